package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/// Files too large to hash for each request.
@Timeout(300)
class LargeFileTest {
    private static final int LARGE = (8 << 20) + 1;
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with();

    private final Api api = SERVER.api();
    private final String session = api.session();

    @Test
    void sparseTerabyteFileSupportsHeadAndRanges() {
        api.execute(session, "truncate -s 1T sparse");

        var head = Api.send(api.request(path("sparse")).timeout(TIMEOUT).method("HEAD", BodyPublishers.noBody()));
        var part = Api.send(
                api.request(path("sparse")).timeout(TIMEOUT).header("Range", "bytes=500000000000-500000000009"));
        var view = Api.send(
                api.request("/api/v1/sandboxes/" + session + "/files/sparse").timeout(TIMEOUT));

        assertThat(head.status()).isEqualTo(200);
        assertThat(head.headers().firstValue("Content-Length")).contains(String.valueOf(1L << 40));
        assertThat(part.status()).isEqualTo(206);
        assertThat(part.bytes()).isEqualTo(new byte[10]);
        assertThat(view.status()).isEqualTo(413);
        assertThat(api.execute(session, "echo still here").string("stdout")).isEqualTo("still here\n");
    }

    @Test
    void disconnectedClientsDoNotDelayOthers() throws IOException {
        api.execute(session, "truncate -s 1T sparse");
        String request =
                "HEAD " + path("sparse") + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + api.key() + "\r\n\r\n";
        for (int i = 0; i < 300; i++) {
            try (var client = new RawClient(SERVER.get().uri())) {
                client.send(request);
            }
        }

        assertThat(Api.send(api.request("/health").timeout(TIMEOUT)).status()).isEqualTo(200);
        assertThat(api.execute(session, "echo served").string("stdout")).isEqualTo("served\n");
    }

    @Test
    void etagOfALargeFilePreventsLostUpdates() {
        var written = put("large", new byte[LARGE], "If-None-Match", "*");
        String first = written.headers().firstValue("ETag").orElseThrow();
        String read = awaitStrongEtag("large");
        assertThat(written.status()).isEqualTo(201);
        assertThat(read).isEqualTo(first).doesNotStartWith("W/");

        api.execute(session, "printf x | dd of=large conv=notrunc 2>/dev/null");
        var late = put("large", new byte[LARGE], "If-Match", first);
        var upToDate = put("large", new byte[LARGE], "If-Match", awaitStrongEtag("large"));

        assertThat(late.status()).isEqualTo(412);
        assertThat(upToDate.status()).isEqualTo(204);
    }

    @Test
    void largeFileSupportsConditionalRequests() {
        byte[] content = new byte[LARGE];
        Arrays.fill(content, (byte) 'a');
        put("large", content, "If-None-Match", "*");
        String tag = awaitStrongEtag("large");

        var whole = api.get(path("large"));
        var known = Api.send(api.request(path("large")).header("If-None-Match", tag));
        var part =
                Api.send(api.request(path("large")).header("Range", "bytes=0-1").header("If-Range", tag));
        var changed =
                Api.send(api.request(path("large")).header("Range", "bytes=0-1").header("If-Range", "\"v-1-1-1-1\""));

        assertThat(whole.bytes()).isEqualTo(content);
        assertThat(known.status()).isEqualTo(304);
        assertThat(part.status()).isEqualTo(206);
        assertThat(changed.status()).isEqualTo(200);
    }

    @Test
    void hashOfALargeFileIsReturnedOnRequestAndWorksAsEtag() throws GeneralSecurityException {
        byte[] content = new byte[LARGE];
        byte[] hash = MessageDigest.getInstance("SHA-256").digest(content);
        String tag = '"' + HexFormat.of().formatHex(hash) + '"';
        put("large", content, "If-None-Match", "*");

        var head = Api.send(api.request(path("large"))
                .header("Want-Repr-Digest", "sha-256=1")
                .method("HEAD", BodyPublishers.noBody()));
        var changed = put("large", new byte[LARGE + 1], "If-Match", tag);
        var late = put("large", content, "If-Match", tag);

        assertThat(head.headers().firstValue("Repr-Digest"))
                .contains("sha-256=:" + Base64.getEncoder().encodeToString(hash) + ":");
        assertThat(changed.status()).isEqualTo(204);
        assertThat(late.status()).isEqualTo(412);
    }

    @Test
    void fileCallsPerSandboxAreLimitedWithRetryAfter() throws IOException {
        api.execute(session, "truncate -s 100M slow");
        var readers = new ArrayList<RawClient>();
        try {
            // The clients do not read, so their downloads block.
            for (int i = 0; i < 128; i++) {
                var reader = new RawClient(SERVER.get().uri());
                readers.add(reader);
                reader.send("GET " + path("slow") + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + api.key()
                        + "\r\n\r\n");
            }
            await().until(() -> api.get(path("slow2")).status() == 429);

            var rejected = api.get(path("slow2"));

            assertThat(rejected.text()).contains("too-many-requests");
            assertThat(rejected.headers().firstValue("Retry-After")).contains("1");
            assertThat(api.execute(session, "echo served").string("stdout")).isEqualTo("served\n");
        } finally {
            for (var reader : readers) {
                reader.reset();
                reader.close();
            }
        }
        await().until(() -> api.get(path("slow2")).status() == 404);
        assertThat(SERVER.get()
                        .sandboxes()
                        .require(new SandboxId(session))
                        .stats()
                        .processes())
                .isZero();
    }

    /// The strong ETag, which the server returns once the file has not changed for a moment.
    private String awaitStrongEtag(String name) {
        return await().until(
                        () -> api.method("HEAD", path(name))
                                .headers()
                                .firstValue("ETag")
                                .orElseThrow(),
                        tag -> !tag.startsWith("W/"));
    }

    private Api.Answer put(String name, byte[] content, String header, String value) {
        return Api.send(api.request(path(name)).header(header, value).PUT(BodyPublishers.ofByteArray(content)));
    }

    private String path(String name) {
        return "/sandboxes/" + session + "/files/" + name;
    }
}
