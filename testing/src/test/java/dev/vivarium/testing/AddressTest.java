package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A server tells the commands of its machine where it listens.
@Timeout(300)
class AddressTest {
    @Test
    void runningServerHasItsAddressInItsHome(@TempDir Path home) throws Exception {
        Path address = home.resolve("address");
        try (var server = ServerProcess.start(home, "--provider", "process", "--pool-size", "0")) {
            assertThat(Files.readString(address).strip()).isEqualTo(server.uri().toString());

            server.terminate();

            await().until(() -> Files.notExists(address));
        }
    }
}
