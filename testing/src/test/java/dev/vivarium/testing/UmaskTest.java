package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.provider.FileTrees;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Server under a restrictive umask. Needs root.
@Tag("root")
@Timeout(120)
class UmaskTest {
    private Path home;

    @BeforeEach
    void makeHome() throws Exception {
        home = Files.createTempDirectory("viv-umask").toRealPath();
    }

    @AfterEach
    void cleanUp() throws Exception {
        ServerProcess.purge(home);
        FileTrees.delete(home);
    }

    @Test
    void sandboxesDoNotInheritTheUmaskOfTheServer() {
        try (var server = ServerProcess.startWithUmask(home, "077", "--pool-size", "0", "--disk-mb", "64")) {
            String session = server.api().session();
            String inspect = "cat /etc/passwd /etc/group > /dev/null && id -un && umask && touch file && mkdir dir"
                    + " && stat -c %a file dir / /etc /workspace /home /var/tmp"
                    + " && find /etc -not -readable";
            var result = server.api().execute(session, inspect);
            assertThat(result.string("stderr")).isEmpty();
            assertThat(result.string("stdout").lines())
                    .containsExactly("sandboxuser", "0022", "644", "755", "755", "755", "755", "755", "755");
        }
    }
}
