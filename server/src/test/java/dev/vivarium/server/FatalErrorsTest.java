package dev.vivarium.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.VitalThread;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class FatalErrorsTest {
    @Test
    void endedVitalThreadStopsTheProcessWithAReason() throws Exception {
        var java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        var process = new ProcessBuilder(
                        java, "-cp", System.getProperty("java.class.path"), BrokenServer.class.getName())
                .start();
        String output = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isEqualTo(FatalErrors.THREAD_ENDED);
        assertThat(output).contains("the vital thread heart has ended").contains("as the test wants it");
    }

    /// Program that never exits, with a vital thread that always fails.
    static final class BrokenServer {
        private BrokenServer() {}

        public static void main(String[] arguments) throws InterruptedException {
            FatalErrors.install();
            VitalThread.start("heart", () -> {
                throw new IllegalStateException("as the test wants it");
            });
            Thread.currentThread().join();
        }
    }
}
