package dev.vivarium.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.cli.TokenCache.IfAbsent;
import dev.vivarium.sdk.RemoteClient;
import dev.vivarium.sdk.SandboxToken;
import dev.vivarium.testing.TestServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(300)
class TokenCacheTest {
    private static TestServer server;

    private final String thread = "passes-" + UUID.randomUUID();
    private final List<String> notes = new ArrayList<>();
    private Instant now = Instant.now();

    @TempDir
    private Path directory;

    @BeforeAll
    static void start() {
        server = TestServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void tokenIsCachedAndRenewedBeforeItExpires() throws Exception {
        SandboxToken first = cache("me").get(thread, IfAbsent.CREATE);
        now = now.plus(Duration.ofMinutes(11));
        assertThat(cache("me").get(thread, IfAbsent.FAIL).token()).isEqualTo(first.token());
        now = now.plus(Duration.ofMinutes(2));
        SandboxToken second = cache("me").get(thread, IfAbsent.FAIL);
        assertThat(second.token()).isNotEqualTo(first.token());
        assertThat(second.sandbox()).isEqualTo(first.sandbox());
        assertThat(notes).containsExactly("created sandbox for thread " + thread);
        try (var files = Files.list(directory.resolve("passes"))) {
            assertThat(files).singleElement().satisfies(file -> {
                assertThat(Files.readString(file)).contains(second.token()).doesNotContain(first.token());
                assertThat(Files.getPosixFilePermissions(file)).isEqualTo(PosixFilePermissions.fromString("rw-------"));
            });
        }
    }

    @Test
    void tokenOfAnotherAccountIsNotUsed() {
        SandboxToken mine = cache("me").get(thread, IfAbsent.CREATE);
        SandboxToken theirs = cache("somebody else").get(thread, IfAbsent.FAIL);
        assertThat(theirs.token()).isNotEqualTo(mine.token());
    }

    @Test
    void sandboxWithTheOtherPolicyKeepsIt() {
        String path = "/threads/" + thread + "/sandbox";
        server.api().post(path, "{\"on_idle\":\"end\"}");
        cache("me").get(thread, IfAbsent.CREATE);
        assertThat(server.api().get(path).json().string("on_idle")).isEqualTo("end");
        assertThat(notes).isEmpty();
    }

    @Test
    void replacedSandboxIsReported() {
        SandboxToken first = cache("me").get(thread, IfAbsent.CREATE);
        server.api().method("DELETE", "/threads/" + thread + "/sandbox");
        now = now.plus(Duration.ofMinutes(13));
        SandboxToken second = cache("me").get(thread, IfAbsent.CREATE);
        assertThat(second.sandbox()).isNotEqualTo(first.sandbox());
        assertThat(notes)
                .containsExactly(
                        "created sandbox for thread " + thread,
                        "the sandbox of " + thread + " had ended; this is a new one without its files");
    }

    @Test
    void brokenCacheFileIsIgnored() throws Exception {
        SandboxToken first = cache("me").get(thread, IfAbsent.CREATE);
        try (var files = Files.list(directory.resolve("passes"))) {
            Files.writeString(files.findFirst().orElseThrow(), "{\"token\":");
        }
        assertThat(cache("me").get(thread, IfAbsent.FAIL).sandbox()).isEqualTo(first.sandbox());
    }

    private TokenCache cache(String holder) {
        InstantSource clock = () -> now;
        var client = RemoteClient.of(server.uri(), server.adminKey());
        return new TokenCache(client, directory.resolve("passes"), holder, Optional.empty(), notes::add, clock);
    }
}
