package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.Digests;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DataFilesApiTest {
    private static final String HASH_OF_ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    /// More bytes than all buffers hold between the server and a client that does not read.
    private static final long LARGER_THAN_BUFFERS = 64L << 20;

    @RegisterExtension
    static final SharedServer SERVER =
            SharedServer.with("--max-file-size-mb", "8", "--max-total-files", "20", "--max-workspace-size-mb", "9");

    private final Api api = SERVER.api();
    private final String session = api.session();

    @Test
    void aFileIsWrittenReadAndReplaced() {
        var made = put("deep/er/a file.txt", "abc");
        var read = get("deep/er/a%20file.txt");
        var replaced = put("deep/er/a file.txt", "other");

        assertThat(made.status()).isEqualTo(201);
        assertThat(header(made, "ETag")).isEqualTo(quoted(HASH_OF_ABC));
        assertThat(read.status()).isEqualTo(200);
        assertThat(read.text()).isEqualTo("abc");
        assertThat(header(read, "ETag")).isEqualTo(quoted(HASH_OF_ABC));
        assertThat(header(read, "Content-Type")).isEqualTo("text/plain; charset=utf-8");
        assertThat(header(read, "Content-Disposition")).startsWith("attachment; filename=\"a file.txt\"");
        assertThat(header(read, "Last-Modified")).endsWith("GMT");
        assertThat(header(read, "Content-Length")).isEqualTo("3");
        assertThat(replaced.status()).isEqualTo(204);
        assertThat(api.execute(session, "cat 'deep/er/a file.txt'").string("stdout"))
                .isEqualTo("other");
    }

    @Test
    void replacedFileKeepsItsMode() {
        put("tool", "old");
        api.execute(session, "chmod 750 tool");
        put("tool", "new");
        var read = get("tool");
        assertThat(read.text()).isEqualTo("new");
        assertThat(header(read, "X-File-Mode")).isEqualTo("750");
        var made = Api.send(
                file("made").header("X-File-Mode", "0755").PUT(BodyPublishers.ofString("#!/bin/sh\necho ran\n")));
        assertThat(made.status()).isEqualTo(201);
        assertThat(api.execute(session, "./made").string("stdout")).isEqualTo("ran\n");
        for (String wrong : new String[] {"1777", "8", "rwx", "-1", ""}) {
            var refused = Api.send(file("made").header("X-File-Mode", wrong).PUT(BodyPublishers.ofString("x")));
            assertThat(refused.status()).as(wrong).isEqualTo(400);
        }
        assertThat(get("made").text()).startsWith("#!");
    }

    @Test
    void largeFileReturnsWithTheHashOfItsContent() {
        byte[] data = random(5_000_003);
        var made = Api.send(file("big.bin").PUT(BodyPublishers.ofByteArray(data)));
        var read = get("big.bin");

        assertThat(made.status()).isEqualTo(201);
        assertThat(header(made, "ETag")).isEqualTo(quoted(Digests.sha256(data)));
        assertThat(read.bytes()).isEqualTo(data);
        assertThat(header(read, "ETag")).isEqualTo(header(made, "ETag"));
        assertThat(header(read, "Content-Type")).isEqualTo("application/octet-stream");
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 1_000_000})
    void headReturnsHeadersWithoutABody(int size) {
        Api.send(file("f").PUT(BodyPublishers.ofByteArray(random(size))));
        var head = api.method("HEAD", path("f"));

        assertThat(head.status()).isEqualTo(200);
        assertThat(header(head, "ETag")).isEqualTo(header(get("f"), "ETag"));
        assertThat(header(head, "Content-Length")).isEqualTo(Integer.toString(size));
        assertThat(head.bytes()).isEmpty();
        assertThat(api.method("HEAD", path("absent")).status()).isEqualTo(404);
    }

    /// `E` stands for the ETag of the stored file, `O` for another ETag.
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "If-Match      | E        | true  | 204",
                "If-Match      | O        | true  | 412",
                "If-Match      | O, E     | true  | 204",
                "If-Match      | W/E      | true  | 412",
                "If-Match      | *        | true  | 204",
                "If-Match      | *        | false | 412",
                "If-Match      | E        | false | 412",
                "If-None-Match | *        | true  | 412",
                "If-None-Match | *        | false | 201",
                "If-None-Match | E        | true  | 412",
                "If-None-Match | W/E      | true  | 412",
                "If-None-Match | O        | true  | 204",
                "If-None-Match | O        | false | 201",
                "If-Match      | unquoted | true  | 400",
                "If-None-Match | E E      | true  | 400",
            })
    void conditionalWriteFollowsItsPreconditions(String name, String value, boolean exists, int status) {
        if (exists) {
            put("f", "abc");
        }
        String tags = value.replace("E", quoted(HASH_OF_ABC)).replace("O", quoted("0".repeat(64)));
        var answer = Api.send(file("f").header(name, tags).PUT(BodyPublishers.ofString("new")));

        assertThat(answer.status()).isEqualTo(status);
        assertThat(get("f").status() == 200 ? get("f").text() : "")
                .isEqualTo(status < 300 ? "new" : exists ? "abc" : "");
        assertThat(api.execute(session, "ls -A").string("stdout")).doesNotContain(".viv-tmp");
    }

    @Test
    void etagListMaySpanSeveralHeaders() {
        put("f", "abc");
        var answer = Api.send(file("f")
                .header("If-None-Match", quoted("0"))
                .header("If-None-Match", quoted(HASH_OF_ABC))
                .PUT(BodyPublishers.ofString("new")));

        assertThat(answer.status()).isEqualTo(412);
    }

    @Test
    void failedPreconditionReturnsTheCurrentHash() {
        put("f", "abc");
        var answer =
                Api.send(file("f").header("If-Match", quoted("0".repeat(64))).PUT(BodyPublishers.ofString("new")));

        assertThat(answer.json().string("sha256")).isEqualTo(HASH_OF_ABC);
        assertThat(answer.json().string("error")).contains("read it again");
    }

    @Test
    void oneOfTwoConcurrentConditionalWritesSucceeds() {
        put("f", "start");
        for (int round = 0; round < 30; round++) {
            String seen = header(get("f"), "ETag");
            var succeeded = new AtomicInteger();
            try (var writers = Executors.newVirtualThreadPerTaskExecutor()) {
                for (int writer = 0; writer < 2; writer++) {
                    String text = "round " + round + " writer " + writer;
                    writers.submit(() -> {
                        var answer = Api.send(file("f").header("If-Match", seen).PUT(BodyPublishers.ofString(text)));
                        succeeded.addAndGet(answer.status() == 204 ? 1 : 0);
                        assertThat(answer.status()).isIn(204, 412);
                    });
                }
            }
            assertThat(succeeded).as("round %s", round).hasValue(1);
        }
    }

    @Test
    void matchingEtagReturnsNotModified() {
        put("f", "abc");

        var same =
                Api.send(file("f").header("If-None-Match", quoted(HASH_OF_ABC)).GET());
        var other = Api.send(file("f").header("If-None-Match", quoted("0")).GET());

        assertThat(same.status()).isEqualTo(304);
        assertThat(same.bytes()).isEmpty();
        assertThat(header(same, "ETag")).isEqualTo(quoted(HASH_OF_ABC));
        assertThat(other.status()).isEqualTo(200);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "bytes=0-0        | 206 | 0 | 1",
                "bytes=2-5        | 206 | 2 | 6",
                "bytes=-3         | 206 | 7 | 10",
                "bytes=-99        | 206 | 0 | 10",
                "bytes=4-         | 206 | 4 | 10",
                "bytes=8-99       | 206 | 8 | 10",
                "bytes=10-        | 416 | 0 | 0",
                "bytes=-0         | 416 | 0 | 0",
                "bytes=0-1,3-4    | 200 | 0 | 10",
                "bytes=5-2        | 200 | 0 | 10",
                "lines=1-2        | 200 | 0 | 10",
                "bytes=x          | 200 | 0 | 10",
            })
    void rangeRequestsFollowTheHttpStandard(String range, int status, int from, int to) {
        put("f", "0123456789");
        var answer = Api.send(file("f").header("Range", range).GET());

        assertThat(answer.status()).isEqualTo(status);
        if (status == 416) {
            assertThat(header(answer, "Content-Range")).isEqualTo("bytes */10");
        } else {
            assertThat(answer.text()).isEqualTo("0123456789".substring(from, to));
        }
        if (status == 206) {
            assertThat(header(answer, "Content-Range")).isEqualTo("bytes " + from + "-" + (to - 1) + "/10");
        }
    }

    @Test
    void rangeOfALargeFileReturnsThoseBytes() {
        byte[] data = random(3_000_000);
        Api.send(file("f").PUT(BodyPublishers.ofByteArray(data)));
        var part = Api.send(file("f").header("Range", "bytes=1000000-2499999").GET());
        var stale = Api.send(file("f")
                .header("Range", "bytes=0-9")
                .header("If-Range", quoted("0".repeat(64)))
                .GET());

        assertThat(part.status()).isEqualTo(206);
        assertThat(part.bytes()).isEqualTo(Arrays.copyOfRange(data, 1_000_000, 2_500_000));
        assertThat(stale.status()).isEqualTo(200);
        assertThat(stale.bytes()).isEqualTo(data);
    }

    @Test
    void fileThatChangesDuringADownloadCutsTheConnection() throws IOException {
        api.execute(session, "truncate -s " + LARGER_THAN_BUFFERS + " f");
        try (var socket = new Socket()) {
            socket.setReceiveBufferSize(1 << 16);
            socket.setSoTimeout(60_000);
            socket.connect(new InetSocketAddress("127.0.0.1", SERVER.get().uri().getPort()));
            String request = "GET " + path("f") + " HTTP/1.1\r\nHost: x\r\nX-API-Key: " + api.key()
                    + "\r\nConnection: close\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            assertThat(head(socket.getInputStream()))
                    .startsWith("HTTP/1.1 200")
                    .containsIgnoringCase("Content-Length: " + LARGER_THAN_BUFFERS);

            // The buffers cannot hold the whole file, so the server has not read its end yet.
            api.execute(
                    session, "printf x | dd of=f conv=notrunc bs=1 seek=" + (LARGER_THAN_BUFFERS - 1) + " 2>/dev/null");

            assertThat(countUntilCut(socket.getInputStream())).isLessThan(LARGER_THAN_BUFFERS);
        }
    }

    private static String head(InputStream in) throws IOException {
        var head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int next = in.read();
            assertThat(next).as(head.toString()).isNotNegative();
            head.append((char) next);
        }
        return head.toString();
    }

    private static long countUntilCut(InputStream in) {
        long count = 0;
        var buffer = new byte[1 << 16];
        try {
            for (int read; (read = in.read(buffer)) >= 0; ) {
                count += read;
            }
        } catch (SocketException e) {
            // The server reset the connection, which is also an incomplete response.
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return count;
    }

    @Test
    void completeDownloadMatchesItsEtagWhileTheFileChanges() {
        api.execute(
                session,
                "head -c 6000000 /dev/urandom > f; (until [ -e enough ]; do head -c 6000000 /dev/urandom"
                        + " | dd of=f conv=notrunc bs=64k 2>/dev/null; done) >/dev/null 2>&1 &");
        for (int i = 0; i < 10; i++) {
            try {
                var answer = get("f");
                assertThat(answer.status()).isIn(200, 409);
                if (answer.status() == 200) {
                    assertThat(header(answer, "ETag")).isEqualTo(quoted(Digests.sha256(answer.bytes())));
                }
            } catch (UncheckedIOException e) {
                // The download was incomplete.
            }
        }
        api.execute(session, "touch enough");
    }

    @Test
    void aDirectoryIsListed() {
        put("d/one", "1");
        put("d/two/three", "333");
        var top = get("d").json();
        var all = get("d/?recursive=true").json();

        assertThat(top.string("path")).isEqualTo("d");
        assertThat(top.objects("files").stream().map(f -> f.string("name") + ":" + f.string("type")))
                .containsExactlyInAnyOrder("one:file", "two:directory");
        assertThat(all.objects("files").stream().map(f -> f.string("name"))).contains("one", "two", "two/three");
        assertThat(get("").json().objects("files").stream().map(f -> f.string("name")))
                .containsExactly("d");
    }

    @Test
    void filesAndDirectoriesAreRemoved() {
        put("d/one", "abc");

        assertThat(delete("d", "X-None", "").status()).isEqualTo(400);
        assertThat(delete("d/one", "If-Match", quoted("0")).status()).isEqualTo(412);
        assertThat(delete("d/one", "If-Match", quoted(HASH_OF_ABC)).status()).isEqualTo(204);
        assertThat(delete("d/one", "X-None", "").status()).isEqualTo(404);
        put("d/two", "2");
        assertThat(delete("d?recursive=true", "X-None", "").status()).isEqualTo(204);
        assertThat(delete("", "X-None", "").status()).isEqualTo(400);
    }

    @Test
    void rejectedMoveCreatesNoDirectories() {
        put("from", "abc");

        assertThat(move("missing?move_to=a/b").status()).isEqualTo(404);
        var preconditionFailed = Api.send(
                file("from?move_to=c/d").header("If-Match", quoted("0")).POST(BodyPublishers.noBody()));
        assertThat(preconditionFailed.status()).isEqualTo(412);

        assertThat(get("a").status()).isEqualTo(404);
        assertThat(get("c").status()).isEqualTo(404);
    }

    @Test
    void aFileIsMoved() {
        put("from", "abc");
        put("there", "other");

        assertThat(move("from?move_to=there").status()).isEqualTo(409);
        assertThat(move("from?move_to=../out").status()).isEqualTo(400);
        assertThat(move("from").status()).isEqualTo(400);
        assertThat(move("from?move_to=new/name").status()).isEqualTo(204);
        assertThat(move("new/name?move_to=there&replace=true").status()).isEqualTo(204);
        assertThat(get("there").text()).isEqualTo("abc");
        assertThat(move("from?move_to=x").status()).isEqualTo(404);
        var preconditionFailed =
                Api.send(file("there?move_to=x").header("If-Match", quoted("0")).POST(BodyPublishers.noBody()));
        assertThat(preconditionFailed.status()).isEqualTo(412);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "../x",
                "%2e%2e/x",
                "..%2fx",
                "a/../../x",
                "/etc/passwd",
                "%2fetc%2fpasswd",
                "a%00b",
                "out/passwd",
                "fifo",
                "%ff",
            })
    void pathOutsideTheWorkspaceIsRejected(String path) {
        api.execute(session, "ln -s /etc out; mkfifo fifo");

        assertThat(get(path).status()).isEqualTo(400);
        if (!path.equals("fifo")) {
            // The request has no body. The server rejects a malformed path and closes the connection before reading a
            // body.
            assertThat(Api.sendAlone(file(path).PUT(BodyPublishers.noBody())).status())
                    .isEqualTo(400);
            assertThat(Api.sendAlone(file(path).DELETE()).status()).isEqualTo(400);
        }
    }

    @Test
    void rejectedUploadsLeaveNoFile() {
        byte[] nineMebibytes = new byte[9 << 20];
        var withoutLength = BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(nineMebibytes));

        assertThat(Api.send(file("a").PUT(BodyPublishers.ofByteArray(nineMebibytes)))
                        .status())
                .isEqualTo(413);
        assertThat(Api.send(file("a").PUT(withoutLength)).status()).isEqualTo(413);
        assertThat(Api.send(file("a").PUT(BodyPublishers.ofByteArray(random(6 << 20))))
                        .status())
                .isEqualTo(201);
        assertThat(Api.send(file("b").PUT(BodyPublishers.ofByteArray(random(6 << 20))))
                        .status())
                .isEqualTo(507);
        assertThat(Api.send(file("a").header("Content-Range", "bytes 0-1/5").PUT(BodyPublishers.ofString("x")))
                        .status())
                .isEqualTo(400);
        assertThat(api.execute(session, "ls -A").string("stdout")).isEqualTo("a\n");
    }

    @Test
    void anotherUsersSandboxIsNotFound() {
        put("f", "abc");
        var stranger = api.as("stranger");
        var absent = stranger.get(path("f").replace(session, "sbx00000000000000000000"));
        var foreign = stranger.get(path("f"));

        assertThat(foreign.status()).isEqualTo(404);
        assertThat(foreign.json().string("error")).isEqualTo(absent.json().string("error"));
        assertThat(stranger.method("DELETE", path("f")).status()).isEqualTo(404);
        assertThat(api.with("none").get(path("f")).status()).isEqualTo(401);
    }

    @Test
    void abortedUploadLeavesNoFile() {
        assertThatThrownBy(() -> Api.send(file("f").PUT(BodyPublishers.ofInputStream(() -> new InputStream() {
                    private int sent;

                    @Override
                    public int read() throws IOException {
                        if (sent++ > 200_000) {
                            throw new IOException("the client is gone");
                        }
                        return 'x';
                    }
                }))))
                .isInstanceOf(UncheckedIOException.class);
        await().until(() -> api.execute(session, "ls -A").string("stdout").isEmpty());
    }

    private String path(String file) {
        return "/sandboxes/" + session + "/files/" + file.replace(" ", "%20");
    }

    private HttpRequest.Builder file(String file) {
        return api.request(path(file));
    }

    private Api.Answer get(String file) {
        return api.get(path(file));
    }

    private Api.Answer put(String file, String text) {
        return Api.send(file(file).PUT(BodyPublishers.ofString(text, StandardCharsets.UTF_8)));
    }

    private Api.Answer delete(String file, String header, String value) {
        return Api.send(file(file).header(header, value).DELETE());
    }

    private Api.Answer move(String file) {
        return Api.send(file(file).POST(BodyPublishers.noBody()));
    }

    private static String header(Api.Answer answer, String name) {
        return answer.headers().firstValue(name).orElse("none");
    }

    private static String quoted(String text) {
        return '"' + text + '"';
    }

    private static byte[] random(int size) {
        var bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        return bytes;
    }
}
