package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.access.Scope;
import dev.vivarium.testing.Api.Answer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CauseOfDeathTest {
    @ParameterizedTest
    @ValueSource(strings = {"jwt", "opaque"})
    void everyCallAfterTheEndSaysWhyAndWhen(String mode) {
        try (var server = TestServer.start("--token-mode", mode)) {
            Api api = server.api();
            String thread = Api.thread();
            String session = create(api, thread);
            Api holder = api.with(server.token(session, Scope.FS_RO));
            assertThat(holder.get("/sandboxes/" + session + "/files/").status()).isEqualTo(200);
            api.method("DELETE", "/admin/sandboxes/" + session);

            assertEnd(holder.get("/sandboxes/" + session + "/files/"));
            assertEnd(holder.get("/threads/" + thread + "/sandbox"));
            assertEnd(api.get("/get_session?thread_id=" + thread));
            assertEnd(api.get("/threads/" + thread + "/sandbox"));
            assertEnd(api.get("/sandboxes/" + session + "/files/"));
            server.restart();
            assertEnd(server.api().with(holder.key()).get("/sandboxes/" + session + "/files/"));
        }
    }

    @Test
    void tokenOfAnEndedSandboxHasNoRightInTheNextOne() {
        try (var server = TestServer.start()) {
            Api api = server.api();
            String thread = Api.thread();
            String first = create(api, thread);
            Api holder = api.with(server.token(first, Scope.FS_RO));
            api.method("DELETE", "/admin/sandboxes/" + first);
            String second = create(api, thread);

            assertEnd(holder.get("/threads/" + thread + "/sandbox"));
            assertEnd(holder.get("/sandboxes/" + second + "/files/"));
        }
    }

    @Test
    void strangerDoesNotLearnTheEnd() {
        try (var server = TestServer.start()) {
            Api api = server.api();
            String thread = Api.thread();
            String session = create(api, thread);
            String revoked = server.token(session, Scope.FS_RO);
            api.post("/threads/" + thread + "/sandbox/revoke", "{\"all\":true}");
            api.method("DELETE", "/admin/sandboxes/" + session);

            Api stranger = api.as("stranger");
            assertThat(stranger.get("/get_session?thread_id=" + thread).text()).doesNotContain("\"end\"");
            assertThat(stranger.get("/threads/" + thread + "/sandbox").text()).doesNotContain("\"end\"");
            assertThat(api.with(revoked)
                            .get("/sandboxes/" + session + "/files/")
                            .status())
                    .isEqualTo(401);
        }
    }

    private static String create(Api api, String thread) {
        return api.post("/create_session", "{\"user_id\":\"u\",\"thread_id\":\"" + thread + "\"}")
                .json()
                .string("session_id");
    }

    private static void assertEnd(Answer answer) {
        assertThat(answer.status()).isEqualTo(404);
        var end = answer.json().object("end");
        assertThat(end.string("cause")).isEqualTo("user");
        assertThat(end.string("detail")).isEqualTo("ended by the admin");
        assertThat(end.optionalTime("at")).isPresent();
    }
}
