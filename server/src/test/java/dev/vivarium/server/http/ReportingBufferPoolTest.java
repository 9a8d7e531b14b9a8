package dev.vivarium.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.server.FatalErrors;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.eclipse.jetty.io.ArrayByteBufferPool;
import org.junit.jupiter.api.Test;

class ReportingBufferPoolTest {
    @Test
    void aLackOfDirectMemoryEndsTheProcessEvenIfTheErrorIsCaught() throws Exception {
        var java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        var process = new ProcessBuilder(
                        java,
                        "-XX:MaxDirectMemorySize=1m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Hoarder.class.getName())
                .start();
        String said = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isEqualTo(3);
        assertThat(said).contains("viv: out of memory").contains("direct buffer memory");
    }

    /// A program that takes buffers without end, in a virtual thread that catches everything, as Jetty does.
    static final class Hoarder {
        private Hoarder() {}

        public static void main(String[] arguments) throws InterruptedException {
            FatalErrors.install();
            var pool = new ReportingBufferPool(new ArrayByteBufferPool());
            Thread.ofVirtual().start(() -> hoard(pool)).join();
        }

        private static void hoard(ReportingBufferPool pool) {
            List<Object> taken = new ArrayList<>();
            try {
                while (true) {
                    taken.add(pool.acquire(8192, true));
                }
            } catch (Throwable e) {
                System.out.println(taken.size() + " buffers, then " + e);
            }
        }
    }
}
