package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.Failure;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.Sandbox;
import dev.vivarium.sdk.SandboxClient;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Contract of a client for files, and the shared code of both client contracts.
@Timeout(120)
public abstract class ClientFilesContract {
    private static final int MIB = 1024 * 1024;

    private final List<Sandbox> opened = new CopyOnWriteArrayList<>();

    @TempDir
    protected Path scratch;

    /// Returns the client under test. The subclass opens it once and closes it.
    protected abstract SandboxClient client();

    @AfterEach
    final void endSandboxes() {
        opened.forEach(Sandbox::end);
    }

    @Test
    void bytesRoundTripUnchanged() throws Exception {
        byte[] bytes = new byte[3 * MIB + 17];
        new Random(7).nextBytes(bytes);
        Path file = Files.write(scratch.resolve("data.bin"), bytes);
        var box = sandbox();

        FileEntry uploaded = box.upload(file, "deep/er/data.bin");
        Path back = box.download("deep/er/data.bin", scratch.resolve("back.bin"));

        assertThat(uploaded.size()).isEqualTo(bytes.length);
        assertThat(back).hasBinaryContent(bytes);
        try (var stream = box.open("deep/er/data.bin")) {
            assertThat(stream.readAllBytes()).isEqualTo(bytes);
        }
        assertThat(box.execute("stat -c %s deep/er/data.bin").stdout()).isEqualTo(bytes.length + "\n");
    }

    @Test
    void streamIsUploadedCompletely() {
        var box = sandbox();
        box.upload("words.txt", stream("one two three"));

        assertThat(box.execute("wc -w < words.txt").stdout().strip()).isEqualTo("3");
    }

    @Test
    void uploadReplacesTheWholeFile() {
        var box = sandbox();
        box.upload("a.txt", stream("a long first version"));
        box.upload("a.txt", stream("short"));

        assertThat(box.execute("cat a.txt").stdout()).isEqualTo("short");
    }

    @Test
    void aDownloadIntoADirectoryKeepsTheName() {
        var box = sandbox();
        box.upload("sub/a.txt", stream("x"));

        assertThat(box.download("sub/a.txt", scratch))
                .isEqualTo(scratch.resolve("a.txt"))
                .hasContent("x");
    }

    @Test
    void failedDownloadKeepsTheTarget() throws Exception {
        Path target = Files.writeString(scratch.resolve("target"), "old");

        assertThat(failureOf(() -> sandbox().download("no-such-file", target)))
                .isEqualTo(new Failure.NoSuchFile("no-such-file"));
        assertThat(target).hasContent("old");
        assertThat(scratch).isDirectoryNotContaining("glob:**.part");
    }

    @Test
    void everyFileNameIsListed() {
        var box = sandbox();
        var names = List.of("plain", "two words", "line\nbreak", "grüße", "sub/inner");
        names.forEach(name -> box.upload(name, stream(name)));

        var listing = box.list();

        assertThat(listing.entries()).extracting(FileEntry::name).containsExactlyInAnyOrderElementsOf(names);
        assertThat(listing.totalFiles()).isEqualTo(names.size());
        for (String name : names) {
            assertThat(read(box, name)).isEqualTo(name);
        }
    }

    @Test
    void theNewestFileIsListedFirst() {
        var box = sandbox();
        box.execute("touch -d 2020-01-01 old; touch -d 2021-01-01 middle; touch new");

        assertThat(box.list().entries()).extracting(FileEntry::name).containsExactly("new", "middle", "old");
    }

    @Test
    void pathsOutsideTheWorkspaceAreRejected() {
        var box = sandbox();
        box.execute("ln -s /etc outside");

        for (String path : List.of("../x", "/etc/hostname", "outside/hostname", "a/../../x")) {
            assertThat(failureOf(() -> box.open(path).close())).isEqualTo(new Failure.PathEscapes(path));
            assertThat(failureOf(() -> box.upload(path, stream("x")))).isEqualTo(new Failure.PathEscapes(path));
        }
    }

    @Test
    void directoriesAndFifosAreRejected() {
        var box = sandbox();
        box.execute("mkdir sub; mkfifo pipe");

        assertThat(failureOf(() -> box.open("sub").close())).isInstanceOf(Failure.WrongFileType.class);
        assertThat(failureOf(() -> box.open("pipe").close())).isInstanceOf(Failure.WrongFileType.class);
    }

    protected final Sandbox sandbox() {
        Sandbox box = client().sandbox("alice", newThread());
        opened.add(box);
        return box;
    }

    /// Ends the sandbox without its handle, as an expired lease does.
    protected final void expire(Sandbox box) {
        client().find(box.thread().value()).orElseThrow().end();
    }

    protected static String newThread() {
        return "contract-" + UUID.randomUUID();
    }

    protected static void awaitDead(Sandbox box, String... pidFiles) {
        for (String file : pidFiles) {
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> box.execute("kill -0 $(cat " + file + ")").exitCode() != 0);
        }
    }

    protected static InputStream stream(String text) {
        return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String read(Sandbox box, String name) {
        try (var bytes = box.open(name)) {
            return new String(bytes.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    protected static String text(ExecEvent event) {
        return new String(((ExecEvent.Output) event).bytes(), StandardCharsets.UTF_8);
    }

    protected static Failure failureOf(ThrowingCallable call) {
        return catchThrowableOfType(SandboxException.class, call).failure();
    }
}
