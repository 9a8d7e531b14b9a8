package dev.vivarium.sdk.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.core.provider.HostProcess;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.SandboxClient;
import dev.vivarium.sdk.engine.LocalConfig;
import dev.vivarium.sdk.engine.LocalConfig.OnClose;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Local mode beyond the common contract: homes, and sandboxes after a client is closed.
@Timeout(300)
class LocalModeTest {
    /// Short, because socket paths are limited in length.
    private Path home;

    @BeforeEach
    void makeHome() throws IOException {
        home = Files.createTempDirectory("vivt");
    }

    @AfterEach
    void endSandboxes() throws IOException {
        try (var client = SandboxClient.local(config())) {
            assertThat(client).isNotNull(); // Closing the client ends the sandboxes that the test kept.
        }
        FileTrees.delete(home);
    }

    @Test
    void sandboxesEndWithTheirClient() throws IOException {
        Path pid = home.resolve("pid");
        try (var client = SandboxClient.local(config())) {
            client.sandbox("alice", "t1").execute("sleep 304 >/dev/null 2>&1 & echo $! > " + pid);
        }

        assertThat(HostProcess.isAlive(Long.parseLong(Files.readString(pid).strip())))
                .isFalse();
        try (var client = SandboxClient.local(config())) {
            assertThat(client.find("t1")).isEmpty();
        }
    }

    @Test
    void keptSandboxesAreFoundAgainWithTheirFiles() {
        try (var client = SandboxClient.local(config().withOnClose(OnClose.KEEP))) {
            client.sandbox("alice", "t1")
                    .upload("note", new ByteArrayInputStream("kept".getBytes(StandardCharsets.UTF_8)));
        }
        try (var client = SandboxClient.local(config())) {
            assertThat(client.find("t1").orElseThrow().execute("cat note").stdout())
                    .isEqualTo("kept");
        }
    }

    @Test
    void oneHomeServesOneClientAtATime() {
        try (var client = SandboxClient.local(config())) {
            assertThatThrownBy(() -> SandboxClient.local(config()))
                    .isInstanceOf(SandboxException.class)
                    .hasMessageContaining("is in use by another server or client");
            assertThat(client.find("t1")).isEmpty();
        }
    }

    @Test
    void clientCanBeClosedTwice() {
        var client = SandboxClient.local(config());
        client.close();
        client.close();
        assertThatThrownBy(() -> client.sandbox("alice", "t1")).isInstanceOf(SandboxException.class);
    }

    private LocalConfig config() {
        return LocalConfig.withoutIsolation().withHome(home).withPoolSize(1);
    }
}
