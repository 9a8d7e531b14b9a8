package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.JsonFields;
import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FileApiTest {
    @RegisterExtension
    static final SharedServer SERVER =
            SharedServer.with("--max-file-size-mb", "2", "--max-total-files", "20", "--max-workspace-size-mb", "3");

    private final Api api = SERVER.api();
    private final String session = api.session();

    @Test
    void fileIsUploadedUnderItsOwnName() {
        var answer = api.upload(Api.form().field("session_id", session).file("data.json", "{}"));

        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.json().string("status")).isEqualTo("uploaded");
        assertThat(answer.json().string("filename")).isEqualTo("data.json");
        assertThat(answer.json().string("path")).isEqualTo("/workspace/data.json");
        assertThat(answer.json().integer("size_bytes")).isEqualTo(2);
        assertThat(api.execute(session, "cat data.json").string("stdout")).isEqualTo("{}");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"x.txt", "deep/er/x.txt", "with space", "new\nline", "€𝄞 naïve.txt", "a'b;c&d", "-rf", "..x"})
    void everyFileNameRoundTrips(String name) {
        assertThat(api.upload(session, name, "content of " + name).status()).isEqualTo(200);

        assertThat(names(session)).containsExactly(name);
        var download = api.download(session, name);
        assertThat(download.status()).isEqualTo(200);
        assertThat(download.text()).isEqualTo("content of " + name);
        assertThat(download.headers().firstValue("Content-Length")).contains(String.valueOf(download.bytes().length));
        assertThat(download.headers().firstValue("Content-Disposition").orElseThrow())
                .startsWith("attachment; ");
        assertThat(download.headers().firstValue("X-Content-Type-Options")).contains("nosniff");
    }

    @Test
    void formPartsMayBeInAnyOrder() {
        for (int size : new int[] {10, 1_000_000}) {
            byte[] content = new byte[size];
            new Random(size).nextBytes(content);
            String name = "n" + size;

            var answer = api.upload(
                    Api.form().file("own", content).field("filename", name).field("session_id", session));

            assertThat(answer.status()).isEqualTo(200);
            assertThat(api.download(session, name).bytes()).isEqualTo(content);
        }
        assertNoSpooledFiles();
    }

    @Test
    void nameAfterALargeFileIsRejected() {
        var answer = api.upload(Api.form()
                .field("session_id", session)
                .file("own", new byte[1_000_000])
                .field("filename", "late"));

        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.json().string("field")).isEqualTo("filename");
        assertThat(names(session)).isEmpty();
    }

    @Test
    void uploadReplacesAnExistingFile() {
        api.upload(session, "f", "first and longer");
        api.upload(session, "f", "second");

        assertThat(api.download(session, "f").text()).isEqualTo("second");
    }

    @Test
    void emptyFileIsAccepted() {
        assertThat(api.upload(session, "empty", "").json().integer("size_bytes"))
                .isZero();
        assertThat(api.download(session, "empty").bytes()).isEmpty();
    }

    @Test
    void bytesAreStoredUnchanged() {
        byte[] content = new byte[2 * 1024 * 1024 - 5];
        new Random(1).nextBytes(content);

        assertThat(api.upload(Api.form().field("session_id", session).file("b", content))
                        .status())
                .isEqualTo(200);

        assertThat(api.download(session, "b").bytes()).isEqualTo(content);
    }

    @Test
    void contentThatResemblesABoundaryIsStored() {
        String content = "\r\n------a-boundary-of-a-tes\r\n--\r\n------a-boundary\r\n".repeat(5000);

        assertThat(api.upload(session, "f", content).status()).isEqualTo(200);
        assertThat(api.download(session, "f").text()).isEqualTo(content);
    }

    @Test
    void oversizedFileIsRejectedWithItsSizes() {
        var answer = api.upload(Api.form().field("session_id", session).file("big", new byte[5 * 1024 * 1024]));

        assertThat(answer.status()).isEqualTo(413);
        assertThat(answer.json().string("error")).isEqualTo("File size exceeds maximum allowed size");
        assertThat(answer.json().integer("max_size_mb")).isEqualTo(2);
        assertThat(answer.json().number("uploaded_size_mb")).isEqualTo(5);
        assertThat(names(session)).isEmpty();
    }

    @Test
    void fileOfUnknownLengthIsRejectedAtTheLimit() {
        byte[] body = Api.form()
                .field("session_id", session)
                .file("big", new byte[2 * 1024 * 1024 + 1])
                .end();

        var answer = api.post(
                "/upload_file",
                Api.form().contentType(),
                BodyPublishers.ofInputStream(() -> new java.io.ByteArrayInputStream(body)));

        assertThat(answer.status()).isEqualTo(413);
        assertThat(names(session)).isEmpty();
    }

    @Test
    void oversizedSpooledFileIsRejected() {
        byte[] body = Api.form()
                .file("big", new byte[2 * 1024 * 1024 + 1])
                .field("session_id", session)
                .end();

        var answer = api.post(
                "/upload_file",
                Api.form().contentType(),
                BodyPublishers.ofInputStream(() -> new java.io.ByteArrayInputStream(body)));

        assertThat(answer.status()).isEqualTo(413);
        assertNoSpooledFiles();
    }

    /// The server deletes spooled files after the response.
    private static void assertNoSpooledFiles() {
        await().untilAsserted(
                        () -> assertThat(SERVER.get().home().resolve("tmp")).isEmptyDirectory());
    }

    @Test
    void fullWorkspaceIsRejectedWithItsSizes() {
        assertThat(api.upload(Api.form().field("session_id", session).file("a", new byte[2 << 20]))
                        .status())
                .isEqualTo(200);

        var answer = api.upload(Api.form().field("session_id", session).file("b", new byte[2 << 20]));

        assertThat(answer.status()).isEqualTo(507);
        assertThat(answer.json().string("error")).isEqualTo("Workspace size limit exceeded");
        assertThat(answer.json().integer("max_workspace_mb")).isEqualTo(3);
        assertThat(answer.json().number("current_workspace_mb")).isEqualTo(2);
        assertThat(answer.json().number("file_size_mb")).isPositive();
        assertThat(names(session)).containsExactly("a");
    }

    @Test
    void tooManyFilesAreRejectedWithTheirCounts() {
        api.execute(session, "for i in $(seq 20); do : > f$i; done");

        var answer = api.upload(session, "one-more", "x");

        assertThat(answer.status()).isEqualTo(507);
        assertThat(answer.json().string("error")).isEqualTo("Maximum file count exceeded");
        assertThat(answer.json().integer("max_files")).isEqualTo(20);
        assertThat(answer.json().integer("current_files")).isEqualTo(20);
        assertThat(names(session)).hasSize(20).doesNotContain("one-more");
        assertThat(api.upload(session, "f1", "replaces").status()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "../escape",
                "a/../../escape",
                "/etc/passwd",
                "/workspace/x",
                "..",
                ".",
                "a/..",
                "link/x",
                "dir",
                "dir/",
                "fifo/x",
                "a\u0000b"
            })
    void pathOutsideTheWorkspaceIsRejected(String path) throws IOException {
        var canary = Files.writeString(SERVER.get().home().resolve("canary"), "unharmed");
        api.execute(session, "mkdir dir; mkfifo fifo; ln -s " + SERVER.get().home() + " link");

        assertThat(api.upload(session, path, "x").status()).as("upload").isIn(400, 404);
        assertThat(api.download(session, path).status()).as("download").isIn(400, 404);

        assertThat(canary).hasContent("unharmed");
        assertThat(SERVER.get().home().resolve("x")).doesNotExist();
        assertThat(names(session)).containsExactlyInAnyOrder("fifo", "link");
    }

    @Test
    void listingShowsFifosAndSockets() {
        api.execute(session, "mkfifo fifo; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"socket\")'");

        assertThat(api.get("/list_files?session_id=" + session).json().objects("files"))
                .extracting(
                        entry -> entry.string("name"),
                        entry -> entry.string("type"),
                        entry -> entry.string("permissions").charAt(0))
                .containsExactlyInAnyOrder(tuple("fifo", "fifo", 'p'), tuple("socket", "socket", 's'));
    }

    @Test
    void linksThatLeaveTheWorkspaceAreNotFollowed() throws IOException {
        Files.writeString(SERVER.get().home().resolve("secret"), "secret");
        api.execute(
                session, "ln -s " + SERVER.get().home() + "/secret a; ln -s / root; ln -s ../../../../../etc/passwd p");

        for (String path : new String[] {"a", "root/etc/passwd", "p"}) {
            var answer = api.download(session, path);
            assertThat(answer.status()).as(path).isEqualTo(400);
            assertThat(answer.text()).doesNotContain("root:x").doesNotContain("\"secret\"");
        }
    }

    @Test
    void uploadReplacesALinkAndKeepsItsTarget() throws IOException {
        var canary = Files.writeString(SERVER.get().home().resolve("canary2"), "unharmed");
        api.execute(session, "mkfifo fifo; ln -s " + canary + " link");

        assertThat(api.upload(session, "link", "new").status()).isEqualTo(200);
        assertThat(api.upload(session, "fifo", "new").status()).isEqualTo(200);

        assertThat(canary).hasContent("unharmed");
        assertThat(api.download(session, "link").text()).isEqualTo("new");
    }

    @Test
    void fifoIsRejected() {
        api.execute(session, "mkfifo fifo");

        assertThat(api.download(session, "fifo").status()).isEqualTo(400);
    }

    @Test
    void linksThatStayInTheWorkspaceAreFollowed() {
        api.execute(session, "mkdir d; echo inside > d/f; ln -s d/f link");

        assertThat(api.download(session, "link").text()).isEqualTo("inside\n");
    }

    @Test
    void deviceIsRejected() {
        api.execute(session, "ln -s /dev/zero zero; mknod null c 1 3");

        assertThat(api.download(session, "zero").status()).isEqualTo(400);
        assertThat(api.download(session, "null").status()).isIn(400, 403, 404);
    }

    @Test
    void missingFileIsNotFound() {
        var answer = api.download(session, "nothing.csv");

        assertThat(answer.status()).isEqualTo(404);
        assertThat(answer.json().string("error")).isEqualTo("File not found in workspace");
        assertThat(answer.json().string("filename")).isEqualTo("nothing.csv");
        assertThat(answer.json().string("workspace_dir")).isEqualTo("/workspace");
    }

    @Test
    void filesAreListedNewestFirst() {
        api.execute(
                session, "mkdir sub; echo 1 > old; touch -d '1 hour ago' old; echo 22 > sub/new; chmod 640 sub/new");

        var listing = api.get("/list_files?session_id=" + session).json();

        assertThat(listing.string("workspace_dir")).isEqualTo("/workspace");
        assertThat(listing.integer("total_files")).isEqualTo(2);
        assertThat(listing.integer("total_size_bytes")).isEqualTo(5);
        var files = listing.objects("files");
        assertThat(files).extracting(f -> f.string("name")).containsExactly("sub/new", "old");
        assertThat(files.getFirst().string("permissions")).isEqualTo("-rw-r-----");
        assertThat(files.getFirst().integer("size_bytes")).isEqualTo(3);
        assertThat(files.getFirst().time("modified")).isAfter(files.getLast().time("modified"));
    }

    @Test
    void flatListingIncludesDirectories() {
        api.execute(session, "mkdir sub; touch sub/x top");

        var files = api.get("/list_files?recursive=false&session_id=" + session)
                .json()
                .objects("files");

        assertThat(files).extracting(f -> f.string("name")).containsExactlyInAnyOrder("sub", "top");
    }

    @Test
    void nameThatIsNotUtf8IsListed() {
        api.execute(session, "touch $'bad\\xff' good");

        assertThat(names(session)).containsExactlyInAnyOrder("bad\uFFFD", "good");
        assertThat(api.download(session, "bad\uFFFD").status()).isEqualTo(404);
    }

    @Test
    void fileNameCannotInjectHeaders() {
        String name = "a\"\r\nSet-Cookie: x=1";
        api.upload(session, name, "x");

        var answer = api.download(session, name);

        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.headers().firstValue("Set-Cookie")).isEmpty();
    }

    @Test
    void invalidFormIsRejected() {
        assertThat(api.post("/upload_file", "{}").status()).isEqualTo(415);
        assertThat(api.post("/upload_file", "multipart/form-data", BodyPublishers.ofString("x"))
                        .status())
                .isEqualTo(415);
        assertThat(api.post("/upload_file", Api.form().contentType(), BodyPublishers.ofString("x"))
                        .status())
                .isEqualTo(400);
        assertThat(api.post("/upload_file", Api.form().contentType(), BodyPublishers.noBody())
                        .status())
                .isEqualTo(400);
        assertThat(api.upload(Api.form()).status()).isEqualTo(400);
        assertThat(api.upload(Api.form().field("session_id", session)).json().string("field"))
                .isEqualTo("file");
        assertThat(api.upload(Api.form().file("f", "x")).json().string("field")).isEqualTo("session_id");
        assertThat(api.upload(Api.form().field("session_id", session).file("", "x"))
                        .json()
                        .string("field"))
                .isEqualTo("filename");
        assertThat(api.upload(Api.form()
                                .field("session_id", session)
                                .field("extra", "x")
                                .file("f", "x"))
                        .status())
                .isEqualTo(400);
        assertThat(api.upload(Api.form()
                                .field("session_id", session)
                                .file("f", "x")
                                .file("g", "y"))
                        .status())
                .isEqualTo(400);
        assertThat(api.upload(Api.form()
                                .field("session_id", "x".repeat(100_000))
                                .file("f", "x"))
                        .status())
                .isEqualTo(400);
        assertThat(names(session)).isEmpty();
    }

    @Test
    void truncatedFormLeavesNoFile() {
        byte[] half = Api.form()
                .field("session_id", session)
                .file("half", "x".repeat(500_000))
                .soFar();

        var answer = api.post("/upload_file", Api.form().contentType(), BodyPublishers.ofByteArray(half));

        assertThat(answer.status()).isEqualTo(400);
        assertThat(names(session)).isEmpty();
        assertThat(allFiles()).isEmpty();
    }

    @Test
    void disconnectDuringAnUploadLeavesNoFile() throws IOException {
        byte[] half = Api.form()
                .field("session_id", session)
                .file("half", "x".repeat(900_000))
                .soFar();
        try (var socket =
                new Socket(SERVER.get().uri().getHost(), SERVER.get().uri().getPort())) {
            var out = socket.getOutputStream();
            out.write(("POST /upload_file HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
                            + SERVER.get().adminKey() + "\r\nContent-Type: "
                            + Api.form().contentType() + "\r\nContent-Length: 1500000\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII));
            out.write(half);
            out.flush();
            await().until(() -> !allFiles().isEmpty());
        }

        await().until(() -> allFiles().isEmpty());
        assertThat(names(session)).isEmpty();
    }

    /// All files in the workspace, including unfinished uploads.
    private String allFiles() {
        return api.execute(session, "find . -type f").string("stdout");
    }

    private java.util.List<String> names(String session) {
        return api.get("/list_files?session_id=" + session).json().objects("files").stream()
                .map((JsonFields file) -> file.string("name"))
                .toList();
    }
}
