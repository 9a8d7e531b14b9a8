package dev.vivarium.core.provider.oci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResidentLauncherTest {
    /// Answers one request and then closes its input. The first process keeps running, so that its exit is not
    /// known.
    private static final String DEAF = """
            #!/bin/sh
            dd bs=4096 count=1 of=/dev/null 2> /dev/null
            [ -e %1$s/deaf ] && echo '2 second' && exit
            echo '1 first'
            exec 0<&-
            touch %1$s/deaf
            exec sleep 60
            """;

    @TempDir
    private Path directory;

    @Test
    void launcherThatStopsReadingIsReplaced() throws Exception {
        try (var launcher = new ResidentLauncher(program())) {
            assertThat(start(launcher)).isEqualTo("first");
            await().until(() -> Files.exists(directory.resolve("deaf")));

            assertThat(start(launcher)).isEqualTo("second");
        }
    }

    private String start(ResidentLauncher launcher) throws Exception {
        return launcher.start(List.of(), "secret", directory.resolve("log"))
                .answer()
                .get(1, TimeUnit.MINUTES);
    }

    private Path program() throws IOException {
        Path program = Files.writeString(directory.resolve("program"), DEAF.formatted(directory));
        return Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    }
}
