package dev.vivarium.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.CriticalThread;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class FatalErrorsTest {
    @Test
    void endedCriticalThreadStopsTheProcessWithAReason() throws Exception {
        var java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        var process = new ProcessBuilder(
                        java, "-cp", System.getProperty("java.class.path"), BrokenServer.class.getName())
                .start();
        String output = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isEqualTo(FatalErrors.THREAD_ENDED);
        assertThat(output).contains("the critical thread heart has ended").contains("as the test wants it");
    }

    /// Program that never exits, with a critical thread that always fails.
    static final class BrokenServer {
        private BrokenServer() {}

        public static void main(String[] arguments) throws InterruptedException {
            FatalErrors.install();
            CriticalThread.start("heart", () -> {
                throw new IllegalStateException("as the test wants it");
            });
            Thread.currentThread().join();
        }
    }
}
