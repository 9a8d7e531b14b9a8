package dev.vivarium.sdk.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.model.Failure;
import dev.vivarium.sdk.RemoteClient;
import dev.vivarium.sdk.SandboxClient;
import dev.vivarium.testing.SandboxClientContract;
import dev.vivarium.testing.TestServer;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class RemoteClientTest extends SandboxClientContract {
    private static final long MIB = 1024 * 1024;

    private static TestServer server;
    private static SandboxClient client;

    @BeforeAll
    static void open() {
        server = TestServer.start("--max-file-size-mb", "4");
        client = SandboxClient.remote(server.uri(), server.adminKey());
    }

    @AfterAll
    static void close() {
        client.close();
        server.close();
    }

    @Override
    protected SandboxClient client() {
        return client;
    }

    @Test
    void oversizedFileIsRejectedWithTheLimit() throws Exception {
        Path file = scratch.resolve("large");
        try (var large = new RandomAccessFile(file.toFile(), "rw")) {
            large.setLength(64 * MIB);
        }
        var box = sandbox();

        assertThat(failureOf(() -> box.upload(file))).isInstanceOfSatisfying(Failure.FileTooLarge.class, failure -> {
            assertThat(failure.maxBytes()).isEqualTo(4 * MIB);
        });
        assertThat(box.list().entries()).isEmpty();
    }

    @Test
    void oversizedStreamIsRejected() throws Exception {
        var box = sandbox();
        try (var zeros = Files.newInputStream(Path.of("/dev/zero"))) {
            assertThat(failureOf(() -> box.upload("zeros", new Head(zeros, 64 * MIB))))
                    .isInstanceOf(Failure.FileTooLarge.class);
        }
        assertThat(box.list().entries()).isEmpty();
    }

    @Test
    void userKeyWorksForItsUserUntilRevoked() {
        var keys = RemoteClient.of(server.uri(), server.adminKey()).keys();
        var issued = keys.issue("bob");
        assertThat(keys.list()).anyMatch(key -> key.id().equals(issued.id()));
        try (var bob = SandboxClient.remote(server.uri(), issued.key())) {
            var others = sandbox();
            assertThat(bob.find(others.thread().value())).isEmpty();
            assertThat(failureOf(() -> bob.sandbox("alice", "x"))).isInstanceOf(Failure.NotAllowed.class);

            keys.revoke(issued.id());
            assertThat(failureOf(() -> bob.sandbox("bob", "x"))).isInstanceOf(Failure.NotAuthenticated.class);
        }
        assertThat(keys.list()).noneMatch(key -> key.id().equals(issued.id()));
    }

    @Test
    void healthNeedsNoKey() {
        var health = RemoteClient.of(server.uri(), "not-a-key").health();

        assertThat(health.isHealthy()).isTrue();
        assertThat(health.provider().name()).contains("process");
    }

    /// First bytes of a stream.
    private static final class Head extends InputStream {
        private final InputStream stream;
        private long remaining;

        Head(InputStream stream, long length) {
            this.stream = stream;
            this.remaining = length;
        }

        @Override
        public int read() throws java.io.IOException {
            return remaining-- > 0 ? stream.read() : -1;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws java.io.IOException {
            if (remaining <= 0) {
                return -1;
            }
            int count = stream.read(target, offset, (int) Math.min(length, remaining));
            remaining -= count;
            return count;
        }
    }
}
