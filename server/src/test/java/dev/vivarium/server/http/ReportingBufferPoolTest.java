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
    void exhaustedDirectMemoryStopsTheProcessEvenIfTheErrorIsCaught() throws Exception {
        var java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        var process = new ProcessBuilder(
                        java,
                        "-XX:MaxDirectMemorySize=1m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Leaker.class.getName())
                .start();
        String output = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isEqualTo(3);
        assertThat(output).contains("viv: out of memory").contains("direct buffer memory");
    }

    /// Program that acquires buffers without limit, in a virtual thread that catches everything, as Jetty does.
    static final class Leaker {
        private Leaker() {}

        public static void main(String[] arguments) throws InterruptedException {
            FatalErrors.install();
            var pool = new ReportingBufferPool(new ArrayByteBufferPool());
            Thread.ofVirtual().start(() -> leak(pool)).join();
        }

        private static void leak(ReportingBufferPool pool) {
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
