package dev.vivarium.core.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.core.guest.RealGuest;
import dev.vivarium.model.Failure;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.Listing;
import dev.vivarium.model.SandboxException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Random;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(300)
final class WorkspaceTest {
    private static RealGuest real;

    @BeforeAll
    static void start() {
        real = RealGuest.start();
    }

    @AfterAll
    static void stop() {
        real.close();
    }

    private final Workspace files = new Workspace(real.guest(), new WriteLock());
    private final Path workspace = real.workspace();

    @Test
    void writtenFileIsReadBackUnchanged() throws IOException {
        var data = new byte[5_000_001];
        new Random(1).nextBytes(data);
        FileEntry written = write("deep/er/data.bin", data, Upload.Limits.NONE);
        assertThat(written.size()).isEqualTo(data.length);
        assertThat(written.permissions()).isEqualTo("-rw-r--r--");
        assertThat(read("deep/er/data.bin")).isEqualTo(data);
        assertThat(Files.readAllBytes(workspace.resolve("deep/er/data.bin"))).isEqualTo(data);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "with space",
                "ünïcödé …",
                "quote'\"$`",
                "-rf",
                "new\nline",
                "...",
                ".hidden",
                "tab\there",
                "*?[a]",
                "\\back",
                "emoji \uD83D\uDE00",
                "a:b",
                "~",
                "%2e%2e"
            })
    void unusualFileNamesAreAccepted(String name) throws IOException {
        write("odd/" + name, name.getBytes(StandardCharsets.UTF_8), Upload.Limits.NONE);
        assertThat(new String(read("odd/" + name), StandardCharsets.UTF_8)).isEqualTo(name);
        assertThat(files.list("odd", ListDepth.TOP, 100).entries())
                .extracting(FileEntry::name)
                .contains(name);
        assertThat(files.stat("odd/" + name).name()).isEqualTo("odd/" + name);
        assertThat(files.remove("odd/" + name, ListDepth.TOP, WriteCondition.NONE))
                .isEqualTo(1);
    }

    @Test
    void emptyFileIsWrittenAndRead() throws IOException {
        assertThat(write("empty", new byte[0], Upload.Limits.NONE).size()).isZero();
        assertThat(read("empty")).isEmpty();
    }

    @Test
    void rangeReadReturnsThePart() {
        write("range", "0123456789".getBytes(StandardCharsets.US_ASCII), Upload.Limits.NONE);
        assertThat(part("range", 3, 4)).isEqualTo("3456");
        assertThat(part("range", 8, 100)).isEqualTo("89");
        assertThat(part("range", 100, 1)).isEmpty();
        assertThat(part("range", 0, 0)).isEmpty();
    }

    @Test
    void missingFileIsReported() {
        assertFailure(() -> files.read("missing"), Failure.NoSuchFile.class);
        assertFailure(() -> files.stat("missing"), Failure.NoSuchFile.class);
        assertFailure(() -> files.list("missing", ListDepth.TOP, 10), Failure.NoSuchFile.class);
        assertFailure(() -> files.remove("missing", ListDepth.TOP, WriteCondition.NONE), Failure.NoSuchFile.class);
        assertFailure(() -> move("missing", "elsewhere"), Failure.NoSuchFile.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/etc/passwd", "../x", "a/../../x", "a/..", ".."})
    void pathOutsideTheWorkspaceIsRejected(String path) {
        assertFailure(() -> files.read(path), Failure.PathEscapes.class);
        assertFailure(() -> files.write(path, Upload.Limits.NONE), Failure.PathEscapes.class);
        assertFailure(() -> files.list(path, ListDepth.ALL, 10), Failure.PathEscapes.class);
        assertFailure(() -> files.remove(path, ListDepth.ALL, WriteCondition.NONE), Failure.PathEscapes.class);
        assertFailure(() -> files.watch(path), Failure.PathEscapes.class);
        assertFailure(() -> move("range", path), Failure.PathEscapes.class);
    }

    @Test
    void linkOutOfTheWorkspaceIsRejectedByTheGuest() throws IOException {
        Files.createSymbolicLink(workspace.resolve("out"), Path.of("/etc"));
        assertFailure(() -> files.read("out/passwd"), Failure.PathEscapes.class);
        assertFailure(() -> write("out/vivarium-was-here", new byte[1], Upload.Limits.NONE), Failure.PathEscapes.class);
        assertThat(files.stat("out").type()).isEqualTo(FileEntry.Type.LINK);
    }

    @Test
    void invalidPathsAreRejectedBeforeTheyAreSent() {
        assertFailure(() -> files.read(""), Failure.InvalidRequest.class);
        assertFailure(() -> files.read("nul\0byte"), Failure.InvalidRequest.class);
        assertFailure(() -> files.read("lone \uD800 surrogate"), Failure.InvalidRequest.class);
        assertFailure(() -> files.read("x".repeat(256)), Failure.InvalidRequest.class);
        assertFailure(() -> files.read("abcdefg/".repeat(600)), Failure.InvalidRequest.class);
    }

    @Test
    void fifoIsRejectedWithoutBlocking() throws Exception {
        new ProcessBuilder("mkfifo", workspace.resolve("fifo").toString())
                .start()
                .waitFor();
        assertFailure(() -> files.read("fifo"), Failure.WrongFileType.class);
    }

    @Test
    void readingADirectoryOrListingAFileFails() {
        files.mkdir("directory");
        assertFailure(() -> files.read("directory"), Failure.WrongFileType.class);
        write("plain", new byte[1], Upload.Limits.NONE);
        assertFailure(() -> files.list("plain", ListDepth.TOP, 1), Failure.WrongFileType.class);
    }

    @Test
    void uploadBeyondTheSizeLimitIsRejectedWhileSending() {
        var limits = new Upload.Limits(1_000_000, 0, 0);
        assertThatThrownBy(() -> write("large", new byte[5_000_000], limits))
                .isInstanceOfSatisfying(
                        SandboxException.class,
                        e -> assertThat(e.failure())
                                .isInstanceOfSatisfying(
                                        Failure.FileTooLarge.class,
                                        f -> assertThat(f.maxBytes()).isEqualTo(1_000_000)));
        assertFailure(() -> files.stat("large"), Failure.NoSuchFile.class);
        assertThat(write("large", new byte[1_000_000], limits).size()).isEqualTo(1_000_000);
    }

    @Test
    void numberAndTotalSizeOfFilesAreLimited() {
        try (var other = RealGuest.start()) {
            var bounded = new Workspace(other.guest(), new WriteLock());
            write(bounded, "one", new byte[100], new Upload.Limits(0, 1, 0));
            assertThatThrownBy(() -> write(bounded, "two", new byte[100], new Upload.Limits(0, 1, 0)))
                    .isInstanceOfSatisfying(
                            SandboxException.class,
                            e -> assertThat(e.failure()).isEqualTo(new Failure.TooManyFiles(1, 1)));
            assertThatThrownBy(() -> write(bounded, "two", new byte[100], new Upload.Limits(0, 0, 150)))
                    .isInstanceOfSatisfying(
                            SandboxException.class,
                            e -> assertThat(e.failure()).isEqualTo(new Failure.WorkspaceFull(150, 100, 100)));
            assertThat(write(bounded, "one", new byte[120], new Upload.Limits(0, 1, 150))
                            .size())
                    .isEqualTo(120);
        }
    }

    @Test
    void uncommittedUploadLeavesNoFile() throws IOException {
        try (Upload upload = files.write("kept/unfinished", Upload.Limits.NONE)) {
            upload.write(new byte[100_000], 0, 100_000);
        }
        files.stat(".");
        try (Stream<Path> left = Files.walk(workspace)) {
            assertThat(left.map(path -> path.getFileName().toString()))
                    .noneMatch(name -> name.equals("unfinished") || name.startsWith(".viv-tmp-"));
        }
    }

    @Test
    void listingIsNewestFirstAndTotalsCountAllFiles() throws IOException {
        for (int i = 0; i < 20; i++) {
            write("many/" + i, new byte[i], Upload.Limits.NONE);
            Files.setLastModifiedTime(
                    workspace.resolve("many/" + i), FileTime.from(Instant.ofEpochSecond(1_000_000 + i)));
        }
        files.mkdir("many/below");
        write("many/below/deep", new byte[1_000], Upload.Limits.NONE);
        Listing all = files.list("many", ListDepth.ALL, 1_000);
        assertThat(all.entries())
                .hasSize(22)
                .isSortedAccordingTo((a, b) -> b.modified().compareTo(a.modified()));
        assertThat(all.totalFiles()).isEqualTo(21);
        assertThat(all.totalDirectories()).isEqualTo(1);
        assertThat(all.totalBytes()).isEqualTo(190 + 1_000);
        assertThat(all.truncated()).isFalse();
        Listing some = files.list("many", ListDepth.ALL, 5);
        assertThat(some.entries()).hasSize(5);
        assertThat(some.totalFiles()).isEqualTo(21);
        assertThat(some.truncated()).isTrue();
        assertThat(files.list("many", ListDepth.TOP, 1_000).entries())
                .hasSize(21)
                .noneMatch(entry -> entry.name().contains("/"));
    }

    @Test
    void listingOfADeepTreeIsLimitedInSize() throws Exception {
        String dig = "import os\nos.makedirs('pit')\nos.chdir('pit')\n"
                + "for _ in range(60):\n  os.mkdir('n' * 250)\n  os.chdir('n' * 250)\n"
                + "for i in range(1000):\n  open(str(i), 'w').close()\n";
        var digger = new ProcessBuilder("python3", "-c", dig).directory(workspace.toFile());
        assertThat(digger.start().waitFor()).isZero();

        Listing all = files.list("pit", ListDepth.ALL, 20_000);

        assertThat(all.truncated()).isTrue();
        assertThat(all.totalFiles()).isEqualTo(1_000);
        assertThat(all.entries().stream()
                        .mapToLong(entry -> entry.name().length())
                        .sum())
                .isLessThan(9 << 20);
        files.remove("pit", ListDepth.ALL, WriteCondition.NONE);
    }

    @Test
    void emptyPathAndDotListTheWorkspace() {
        write("seen", new byte[1], Upload.Limits.NONE);
        assertThat(files.list("", ListDepth.TOP, 1_000).entries())
                .extracting(FileEntry::name)
                .contains("seen");
        assertThat(files.list(".", ListDepth.TOP, 1_000).entries())
                .extracting(FileEntry::name)
                .contains("seen");
    }

    @Test
    void moveDoesNotReplaceAnExistingFile() {
        write("from", new byte[1], Upload.Limits.NONE);
        write("to", new byte[2], Upload.Limits.NONE);
        assertThatThrownBy(() -> move("from", "to"))
                .isInstanceOfSatisfying(
                        SandboxException.class, e -> assertThat(e.failure()).isEqualTo(new Failure.FileExists("to")));
        move("from", "moved");
        assertThat(files.stat("moved").size()).isEqualTo(1);
        assertFailure(() -> files.stat("from"), Failure.NoSuchFile.class);
    }

    @Test
    void nonEmptyDirectoryNeedsARecursiveRemove() {
        write("tree/a/b", new byte[1], Upload.Limits.NONE);
        assertFailure(() -> files.remove("tree", ListDepth.TOP, WriteCondition.NONE), Failure.WrongFileType.class);
        assertThat(files.remove("tree", ListDepth.ALL, WriteCondition.NONE)).isEqualTo(3);
        assertFailure(() -> files.stat("tree"), Failure.NoSuchFile.class);
    }

    @Test
    void watchReportsChangesBelowTheDirectory() {
        files.mkdir("watched");
        try (Watch watch = files.watch("watched")) {
            write("watched/new file", new byte[10], Upload.Limits.NONE);
            awaitChange(watch, "new file", FileChange.Kind.CREATED);
            files.mkdir("watched/below");
            awaitChange(watch, "below", FileChange.Kind.CREATED);
            files.remove("watched/new file", ListDepth.TOP, WriteCondition.NONE);
            awaitChange(watch, "new file", FileChange.Kind.DELETED);
        }
    }

    @Test
    void abandonedDownloadDoesNotBlockOtherRequests() {
        write("big", new byte[10_000_000], Upload.Limits.NONE);
        try (Download download = files.read("big")) {
            assertThat(download.entry().size()).isEqualTo(10_000_000);
            assertThat(download.read(new byte[10], 0, 10)).isPositive();
        }
        assertThat(files.stat("big").size()).isEqualTo(10_000_000);
    }

    private static void awaitChange(Watch watch, String path, FileChange.Kind kind) {
        FileChange change;
        do {
            change = watch.next();
            assertThat(change.path()).doesNotContain(".viv-tmp-");
        } while (!change.path().equals(path) || change.kind() != kind);
    }

    private FileEntry write(String path, byte[] data, Upload.Limits limits) {
        return write(files, path, data, limits);
    }

    private static FileEntry write(Workspace files, String path, byte[] data, Upload.Limits limits) {
        try (Upload upload = files.write(path, limits)) {
            upload.write(data, 0, data.length);
            return upload.commit();
        }
    }

    private void move(String from, String to) {
        files.move(from, to, Workspace.Replacing.NOTHING, WriteCondition.NONE);
    }

    private byte[] read(String path) throws IOException {
        var out = new ByteArrayOutputStream();
        try (Download download = files.read(path)) {
            assertThat(download.transferTo(out)).isEqualTo(out.size());
            return out.toByteArray();
        }
    }

    private String part(String path, long offset, long length) {
        var text = new StringBuilder();
        var buffer = new byte[3];
        try (Download download = files.read(path, offset, length)) {
            for (int count; (count = download.read(buffer, 0, buffer.length)) > 0; ) {
                text.append(new String(buffer, 0, count, StandardCharsets.US_ASCII));
            }
        }
        return text.toString();
    }

    private static void assertFailure(ThrowingCallable call, Class<? extends Failure> expected) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        SandboxException.class, e -> assertThat(e.failure()).isInstanceOf(expected));
    }
}
