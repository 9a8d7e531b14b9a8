package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.access.Grant;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.access.TokenRequest;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.SandboxId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Access to shells: authorization, revocation and the audit log.
@Timeout(120)
class ShellAccessTest {
    private static final String QUIET = "\"command\":\"stty -echo; exec bash --norc --noprofile\"";

    private static TestServer server;
    private static Api anna;
    private static Api bob;

    private final String thread = Api.thread();
    private final String path = "/threads/" + thread + "/sandbox";

    @BeforeAll
    static void start() {
        server = TestServer.start();
        anna = server.api().as("anna");
        bob = server.api().as("bob");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void revokedTokenClosesItsSocketButNotTheShell() {
        var issued = negotiate(anna, "shell");
        var other = negotiate(anna, "shell");
        try (var shell = enter(issued, QUIET);
                var second = enter(other, "\"session_id\":\"" + shell.session() + "\"")) {
            shell.type("x=kept; echo rea''dy\n").awaitScreen("ready");
            second.awaitScreen("ready");
            anna.post(path + "/revoke", "{\"jti\":\"" + issued.string("jti") + "\"}");
            assertClosedAsUnauthorized(shell);
            second.type("echo still $x\n").awaitScreen("still kept");
        }
        assertThat(audit()).anySatisfy(entry -> {
            assertThat(entry.string("kind")).isEqualTo("refused");
            assertThat(entry.integer("outcome")).isEqualTo(401);
            assertThat(entry.string("jti")).isEqualTo(issued.string("jti"));
        });
    }

    @Test
    void revokingAllTokensClosesAllSockets() {
        var first = negotiate(anna, "shell");
        var second = negotiate(anna, "shell:ro");
        try (var typist = enter(first, QUIET);
                var watcher = enter(second, "")) {
            anna.post(path + "/revoke", "{\"all\":true}");
            assertClosedAsUnauthorized(typist);
            assertClosedAsUnauthorized(watcher);
        }
    }

    @Test
    void expiredTokenClosesItsSocketUnlessRenewed() {
        var issued = negotiate(anna, "shell");
        String shortLivedToken = shortLivedToken(issued.string("sandbox_id"));
        try (var closed = enter(issued.string("sandbox_id"), shortLivedToken, QUIET);
                var renewed = enter(issued.string("sandbox_id"), shortLivedToken, QUIET)) {
            renewed.auth(issued.string("token"), "").await("auth_ok");
            assertThat(closed.awaitClose()).isEqualTo(4401);
            renewed.type("echo he''re\n").awaitScreen("here");
        }
    }

    @Test
    void removedMemberIsDisconnectedByTokenAndByKey() {
        String sandbox = negotiate(anna, "shell").string("sandbox_id");
        invite("shell");
        var issued = negotiate(bob, "shell");
        try (var byToken = enter(issued, QUIET);
                var byKey = enter(sandbox, keyOf("bob"), QUIET)) {
            invite("shell");
            byToken.type("echo he''re\n").awaitScreen("here");
            anna.method("DELETE", "/threads/" + thread + "/members/bob");
            assertThat(byToken.awaitClose()).isEqualTo(4401);
            assertThat(byKey.awaitClose()).isEqualTo(4404);
        }
    }

    @Test
    void memberReducedToReadOnlyReconnectsAsWatcher() {
        negotiate(anna, "shell");
        invite("shell");
        var issued = negotiate(bob, "shell");
        String session;
        try (var typist = enter(issued, QUIET)) {
            session = typist.session();
            invite("shell:ro");
            assertThat(typist.awaitClose()).isEqualTo(4403);
        }
        try (var watcher = ShellClient.connect(server.uri(), issued.string("sandbox_id"))) {
            watcher.auth(issued.string("token"), "\"session_id\":\"" + session + "\"");
            assertThat(watcher.await("auth_ok").string("role")).isEqualTo("watcher");
        }
    }

    @Test
    void revokedKeyClosesItsSockets() {
        String sandbox = negotiate(anna, "shell").string("sandbox_id");
        var made = server.api().post("/admin/keys", "{\"user_id\":\"anna\"}").json();
        try (var shell = enter(sandbox, made.string("key"), QUIET)) {
            server.api().method("DELETE", "/admin/keys/" + made.string("key_id"));
            assertThat(shell.awaitClose()).isEqualTo(4401);
        }
    }

    @Test
    void auditRecordsWhoTypedButNotTheText() {
        var issued = negotiate(anna, "shell");
        try (var shell = enter(issued, QUIET)) {
            shell.type("echo sec''ret-4711\n").awaitScreen("secret-4711");
            shell.send("{\"type\":\"signal\",\"name\":\"WINCH\"}").send("{\"type\":\"ping\"}");
            shell.await("pong");
            await().untilAsserted(() -> assertThat(audit()).anySatisfy(entry -> {
                assertThat(entry.string("kind")).isEqualTo("typed");
                assertThat(entry.string("detail")).isEqualTo("19 characters in " + shell.session());
            }));
            var entries = audit();
            assertThat(details(entries, "used")).contains("typist in " + shell.session());
            assertThat(details(entries, "typed")).contains("signal WINCH to " + shell.session());
            assertThat(entries)
                    .filteredOn(entry -> entry.string("kind").equals("typed"))
                    .allSatisfy(entry -> {
                        assertThat(entry.string("sub")).isEqualTo("anna");
                        assertThat(entry.string("jti")).isEqualTo(issued.string("jti"));
                        assertThat(entry.string("aud")).isEqualTo(issued.string("sandbox_id"));
                    });
        }
        String all = anna.get("/threads/" + thread + "/audit?limit=1000").text();
        assertThat(all).doesNotContain("4711").doesNotContain(issued.string("token"));
    }

    @Test
    void rejectedConnectionsAreAudited() {
        String sandbox = negotiate(anna, "shell").string("sandbox_id");
        for (String credential : List.of("wrong", negotiate(anna, "fs:ro").string("token"), keyOf("bob"))) {
            try (var shell = ShellClient.connect(server.uri(), sandbox)) {
                shell.auth(credential, "");
                assertThat(shell.awaitClose()).isGreaterThan(4400);
            }
        }
        var refused = audit().stream()
                .filter(entry -> entry.string("kind").equals("refused"))
                .toList();
        assertThat(refused).extracting(entry -> entry.integer("outcome")).containsExactly(401L, 403L, 404L);
        assertThat(refused)
                .extracting(entry -> entry.optionalString("sub"))
                .containsExactly(Optional.empty(), Optional.of("anna"), Optional.of("bob"));
    }

    @Test
    void watcherThatKeepsTypingIsDisconnected() {
        try (var typist = enter(negotiate(anna, "shell"), QUIET);
                var watcher = enter(negotiate(anna, "shell:ro"), "")) {
            for (int i = 0; i < 10; i++) {
                watcher.type("touch forbidden\n");
                assertThat(watcher.await("error").string("code")).isEqualTo("not-allowed");
            }
            assertThat(watcher.awaitClose()).isEqualTo(1008);
            typist.type("ls; echo do''ne\n");
            assertThat(typist.awaitScreen("done")).doesNotContain("forbidden");
        }
        var entries = audit();
        assertThat(details(entries, "refused")).containsOnly("not-allowed");
        assertThat(entries.stream()
                        .filter(entry -> entry.string("kind").equals("refused"))
                        .mapToLong(entry -> entry.integer("count"))
                        .sum())
                .isEqualTo(10);
    }

    private static void assertClosedAsUnauthorized(ShellClient shell) {
        assertThat(shell.awaitClose()).isEqualTo(4401);
    }

    /// Returns a token that lives for seconds, which the HTTP API does not issue.
    private static String shortLivedToken(String sandbox) {
        var info = server.sandboxes().require(new SandboxId(sandbox)).info();
        var request = new TokenRequest(
                info.user(),
                Grant.Standing.OWNER,
                info.id(),
                info.key(),
                Scopes.of(Scope.SHELL),
                Duration.ofSeconds(15),
                List.of());
        return server.tokens().issue(request).token();
    }

    private static String keyOf(String user) {
        return server.api()
                .post("/admin/keys", "{\"user_id\":\"" + user + "\"}")
                .json()
                .string("key");
    }

    private JsonFields negotiate(Api api, String scope) {
        return api.post(path, "{\"scopes\":[\"" + scope + "\"]}").json();
    }

    private void invite(String scope) {
        anna.invite(thread, "bob", scope);
    }

    private static ShellClient enter(JsonFields issued, String more) {
        return enter(issued.string("sandbox_id"), issued.string("token"), more);
    }

    private static ShellClient enter(String sandbox, String credential, String more) {
        return ShellClient.enter(server.uri(), sandbox, credential, more);
    }

    private List<JsonFields> audit() {
        return anna.get("/threads/" + thread + "/audit?limit=1000").json().objects("entries");
    }

    private static List<String> details(List<JsonFields> entries, String kind) {
        return entries.stream()
                .filter(entry -> entry.string("kind").equals(kind))
                .map(entry -> entry.optionalString("detail").orElse(""))
                .toList();
    }
}
