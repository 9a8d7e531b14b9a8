package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.store.Db;
import dev.vivarium.testing.Api.Answer;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class IdempotencyTest {
    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with();

    private final Api api = SERVER.api();
    private String session;
    private String key;

    @BeforeEach
    void create() {
        session = api.session();
        key = "key-" + Api.thread();
    }

    @Test
    void repeatedCommandRunsOnceAndReturnsTheFirstAnswer() {
        String command = Api.command(session, "echo run >> runs; wc -l < runs");
        Answer first = post("/execute", command);
        Answer second = post("/execute", command);
        Answer third = post("/execute", command);

        assertThat(first.status()).isEqualTo(200);
        assertThat(first.headers().firstValue("Idempotency-Replayed")).isEmpty();
        assertThat(second.text()).isEqualTo(first.text());
        assertThat(third.text()).isEqualTo(first.text());
        assertThat(second.headers().firstValue("Idempotency-Replayed")).contains("true");
        assertThat(second.headers().firstValue("Content-Type"))
                .isEqualTo(first.headers().firstValue("Content-Type"));
        assertThat(api.execute(session, "cat runs").string("stdout")).isEqualTo("run\n");
    }

    @Test
    void keyWithAnotherBodyOrRouteIsRefused() {
        post("/execute", Api.command(session, "echo one >> runs"));

        Answer otherBody = post("/execute", Api.command(session, "echo two >> runs"));
        assertThat(otherBody.status()).isEqualTo(422);
        assertThat(otherBody.text()).contains("idempotency-key-reused", "another body; choose a new key");
        Answer otherRoute = post("/cleanup", "{\"session_id\":\"" + session + "\"}");
        assertThat(otherRoute.status()).isEqualTo(422);
        assertThat(otherRoute.text()).contains("another route; choose a new key");
        assertThat(api.execute(session, "cat runs").string("stdout")).isEqualTo("one\n");
    }

    @Test
    void repeatedCreationReturnsTheFirstAnswer() {
        String body = "{\"user_id\":\"u\",\"thread_id\":\"" + Api.thread() + "\"}";
        Answer first = post("/create_session", body);
        Answer second = post("/create_session", body);

        assertThat(first.status()).isEqualTo(201);
        assertThat(second.status()).isEqualTo(201);
        assertThat(second.text()).isEqualTo(first.text());
        assertThat(api.post("/create_session", body).status()).isEqualTo(409);
    }

    @Test
    void repeatedUploadAndDetachedCommandRunOnce() {
        Form form = Api.form()
                .field("session_id", session)
                .field("filename", "a.txt")
                .file("a", "text");
        byte[] bytes = form.end();
        for (int i = 0; i < 2; i++) {
            assertThat(Api.send(request("/upload_file")
                                    .header("Content-Type", form.contentType())
                                    .POST(BodyPublishers.ofByteArray(bytes)))
                            .status())
                    .isEqualTo(200);
            api.execute(session, "echo changed > a.txt");
        }
        assertThat(api.download(session, "a.txt").text()).isEqualTo("changed\n");

        key = key + "-exec";
        String exec = "{\"command\":\"echo run >> runs\",\"detach\":true}";
        Answer first = post("/sandboxes/" + session + "/exec", exec);
        Answer second = post("/sandboxes/" + session + "/exec", exec);
        assertThat(second.text()).isEqualTo(first.text());
        await().until(() -> api.execute(session, "cat runs").string("stdout").equals("run\n"));
    }

    @Test
    void refusedRequestMayBeRepeatedWithTheSameKey() {
        String thread = Api.thread();
        String body = "{\"user_id\":\"u\",\"thread_id\":\"" + thread + "\"}";
        api.post("/create_session", body);
        assertThat(post("/create_session", body).status()).isEqualTo(409);
        api.method("DELETE", "/threads/" + thread + "/sandbox");

        assertThat(post("/create_session", body).status()).isEqualTo(201);
    }

    @Test
    void repetitionDuringTheFirstRequestIsRefused() {
        String command =
                Api.command(session, "touch started; until [ -e go ]; do read -t 0.05 <> <(:); done; echo done");
        var first = CompletableFuture.supplyAsync(() -> post("/execute", command));
        await().until(() -> api.download(session, "started").status() == 200);

        Answer second = post("/execute", command);
        assertThat(second.status()).isEqualTo(409);
        assertThat(second.text()).contains("idempotency-conflict", "in progress");
        api.upload(session, "go", "");
        assertThat(first.join().status()).isEqualTo(200);
        assertThat(post("/execute", command).text()).isEqualTo(first.join().text());
    }

    @Test
    void commandOfADisconnectedClientCompletesForTheRepetition() throws Exception {
        String command = Api.command(
                session, "touch started; until [ -e go ]; do read -t 0.05 <> <(:); done; echo done >> runs");
        try (var client = new RawClient(SERVER.get().uri())) {
            client.send("POST /execute HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + api.key()
                    + "\r\nIdempotency-Key: " + key + "\r\nContent-Type: application/json\r\nContent-Length: "
                    + command.getBytes(StandardCharsets.UTF_8).length + "\r\n\r\n" + command);
            await().until(() -> api.download(session, "started").status() == 200);
        }
        api.upload(session, "go", "");

        await().untilAsserted(
                        () -> assertThat(post("/execute", command).status()).isEqualTo(200));
        assertThat(api.execute(session, "cat runs").string("stdout")).isEqualTo("done\n");
    }

    @Test
    void keysOfUsersAreSeparate() {
        String command = Api.command(session, "echo run >> runs");
        post("/execute", command);

        Answer stranger = Api.send(api.as("stranger-" + session)
                .request("/execute")
                .header("Idempotency-Key", key)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(command)));
        assertThat(stranger.status()).isEqualTo(404);
    }

    @Test
    void malformedKeyIsRefused() {
        key = "a b";
        assertThat(post("/execute", Api.command(session, "true")).status()).isEqualTo(400);
    }

    @Test
    void answerSurvivesARestartAndTheStoreHasNoSecretInTheClear() throws Exception {
        try (var server = TestServer.start()) {
            String user = "{\"user_id\":\"secret-user-name\"}";
            Answer first = post(server.api(), "/admin/keys", user);
            server.restart();
            Answer second = post(server.api(), "/admin/keys", user);

            assertThat(second.text()).isEqualTo(first.text());
            String issued = first.json().string("key");
            assertThat(new String(
                            Files.readAllBytes(server.home().resolve("vivarium.db")), StandardCharsets.ISO_8859_1))
                    .doesNotContain(issued, key);
        }
    }

    @Test
    void unfinishedRequestOfAKilledServerIsNotRunAgain() {
        try (var server = TestServer.start()) {
            String user = "{\"user_id\":\"u\"}";
            post(server.api(), "/admin/keys", user);
            server.restart(IdempotencyTest::forgetAnswers);
            Answer second = post(server.api(), "/admin/keys", user);

            assertThat(second.status()).isEqualTo(409);
            assertThat(second.text()).contains("its effect is unknown");
        }
    }

    @Test
    void largeAnswerIsNotKeptAndNotRunAgain() {
        String command = Api.command(session, "echo run >> runs; head -c 2000000 /dev/zero | tr '\\\\0' x");
        assertThat(post("/execute", command).status()).isEqualTo(200);
        Answer second = post("/execute", command);

        assertThat(second.status()).isEqualTo(409);
        assertThat(second.text()).contains("too large to keep");
        assertThat(api.execute(session, "cat runs").string("stdout")).isEqualTo("run\n");
    }

    /// Sets the rows to the state of a server that was killed before the answer.
    private static void forgetAnswers(Db db) {
        int ignored = db.write(sql -> sql.update("update idempotency_keys set body_hash = null, answer = null"));
    }

    private Answer post(String path, String json) {
        return post(api, path, json);
    }

    private Answer post(Api caller, String path, String json) {
        return Api.send(caller.request(path)
                .header("Idempotency-Key", key)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(json)));
    }

    private java.net.http.HttpRequest.Builder request(String path) {
        return api.request(path).header("Idempotency-Key", key);
    }
}
