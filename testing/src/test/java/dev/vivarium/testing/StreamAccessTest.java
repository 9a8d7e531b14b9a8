package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.access.Grant;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.access.TokenRequest;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.SandboxId;
import dev.vivarium.testing.ShellClient.Reading;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.http.HttpClient;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Streams end when their credential expires or is revoked, against a real server.
@Timeout(120)
class StreamAccessTest {
    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with();

    private final Api admin = SERVER.api();

    @ParameterizedTest
    @ValueSource(strings = {"text/event-stream", "application/x-ndjson"})
    void expiredTokenEndsItsStreamWithAReason(String mediaType) throws Exception {
        String session = admin.session();

        try (var lines = open(admin.with(token(session, Duration.ofSeconds(10))), events(session), mediaType)) {
            assertThat(problem(lines).string("detail")).contains("the token has expired");
            assertThat(lines.readLine()).isNull();
        }
    }

    @Test
    void revokedTokenEndsABusyStreamWithAReason() throws Exception {
        String session = admin.session();
        var grant = tokenRequest(session, TokenRequest.MAX_TTL);
        var token = SERVER.get().tokens().issue(grant);

        try (var lines = open(admin.with(token.token()), events(session), "text/event-stream")) {
            assertThat(lines.readLine()).startsWith("id: ");
            SERVER.get().tokens().revoke(grant.sandbox(), token.grant().jti());
            for (int i = 0; i < 20; i++) {
                append(session);
            }

            assertThat(problem(lines).integer("status")).isEqualTo(401);
            assertThat(lines.readLine()).isNull();
        }
    }

    @Test
    void revokedKeyEndsItsStreams() throws Exception {
        var owner = new KeyHolder("stream-owner");
        String session = owner.session();
        for (String path : List.of(events(session), "/api/v1/events")) {
            var key = new KeyHolder("stream-owner");
            try (var lines = open(key.api, path, "text/event-stream")) {
                assertThat(lines.readLine()).isNotNull();
                key.revoke();

                assertThat(problem(lines).integer("status")).isEqualTo(401);
                assertThat(lines.readLine()).isNull();
            }
        }
    }

    @Test
    void revokedKeyClosesItsSockets() {
        String session = new KeyHolder("socket-owner").session();
        for (String path :
                List.of("/ws/sandboxes/" + session, "/api/v1/ws/events", "/sandboxes/" + session + "/shell")) {
            var key = new KeyHolder("socket-owner");
            try (var socket = ShellClient.open(SERVER.get().uri(), path, Reading.ALWAYS)) {
                socket.auth(key.api.key(), "").await(path.endsWith("shell") ? "auth_ok" : "connected");
                key.revoke();

                assertThat(socket.awaitClose()).as(path).isEqualTo(4401);
            }
        }
    }

    @Test
    void removedMemberLosesTheStream() throws Exception {
        var owner = new KeyHolder("host");
        String thread = Api.thread();
        String session = owner.session(thread);
        Api guest = admin.as("guest");
        String members = "/threads/" + thread + "/members";
        owner.api.post(members, "{\"user_id\":\"guest\",\"scopes\":[\"shell:ro\"]}");

        try (var lines = open(guest, events(session), "text/event-stream")) {
            assertThat(lines.readLine()).startsWith("id: ");
            owner.api.method("DELETE", members + "/guest");

            assertThat(problem(lines).integer("status")).isEqualTo(404);
            assertThat(lines.readLine()).isNull();
        }
    }

    @Test
    void tokenHolderReceivesTheTerminatedEvent() throws Exception {
        String session = admin.session();

        try (var lines = open(admin.with(token(session, TokenRequest.MAX_TTL)), events(session), "text/event-stream")) {
            assertThat(lines.readLine()).startsWith("id: ");
            admin.post("/cleanup", "{\"session_id\":\"" + session + "\"}");

            String last = "";
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                last = line.isEmpty() ? last : line;
            }
            assertThat(last).startsWith("data: ").contains("sandbox.terminated");
        }
    }

    /// A user with a revocable key.
    private final class KeyHolder {
        private final String user;
        private final String id;
        private final Api api;

        KeyHolder(String user) {
            JsonFields issued =
                    admin.post("/admin/keys", "{\"user_id\":\"" + user + "\"}").json();
            this.user = user;
            this.id = issued.string("key_id");
            this.api = admin.with(issued.string("key"));
        }

        String session() {
            return session(Api.thread());
        }

        String session(String thread) {
            String body = "{\"user_id\":\"" + user + "\",\"thread_id\":\"" + thread + "\"}";
            return api.post("/create_session", body).json().string("session_id");
        }

        void revoke() {
            assertThat(admin.method("DELETE", "/admin/keys/" + id).status()).isLessThan(300);
        }
    }

    /// Reads to the problem, which must be the last event.
    private static JsonFields problem(BufferedReader lines) throws IOException {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String data = line.startsWith("data: ") ? line.substring("data: ".length()) : line;
            if (data.contains("\"problem\":")) {
                String rest = lines.readLine();
                assertThat(rest == null || rest.isEmpty()).isTrue();
                return Json.answer(data).object("problem");
            }
        }
        throw new AssertionError("the stream ended without a problem");
    }

    private static BufferedReader open(Api as, String path, String mediaType) throws Exception {
        var request = as.request(path).header("Accept", mediaType).build();
        var answer = HttpClient.newHttpClient().send(request, BodyHandlers.ofInputStream());
        assertThat(answer.statusCode()).isEqualTo(200);
        return new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8));
    }

    private static String token(String session, Duration life) {
        return SERVER.get().tokens().issue(tokenRequest(session, life)).token();
    }

    private static TokenRequest tokenRequest(String session, Duration life) {
        var info = SERVER.get().sandboxes().require(new SandboxId(session)).info();
        return new TokenRequest(
                info.user(), Grant.Standing.OWNER, info.id(), info.key(), Scopes.of(Scope.SHELL_RO), life, List.of());
    }

    private void append(String session) {
        admin.post(events(session), "{\"event_type\":\"note\"}");
    }

    private static String events(String session) {
        return "/api/v1/sandboxes/" + session + "/events";
    }
}
