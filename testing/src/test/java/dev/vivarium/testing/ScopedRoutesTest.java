package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.model.SandboxId;
import dev.vivarium.server.http.Route;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Calls every route that needs a scope with each scope, with tokens and keys of other users, and without a token. New
/// routes are included automatically.
class ScopedRoutesTest {
    private static TestServer server;
    private static Api anna;
    private static Api bob;

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

    @ParameterizedTest
    @EnumSource(Scope.class)
    void scopeOpensOnlyItsOwnRoutes(Scope scope) {
        var held = Scopes.of(scope);
        for (Route route : routes()) {
            // Each route gets a sandbox of its own, because some routes end theirs.
            var issued = negotiate(anna, scope);
            var answer = call(anna.with(issued.token()), route, issued.sandbox());
            if (held.allows(scopeOf(route))) {
                assertThat(answer.status()).as(route + " with " + scope).isNotIn(401, 403);
            } else {
                assertThat(answer.status()).as(route + " with " + scope).isEqualTo(403);
            }
            anna.method("DELETE", "/threads/" + issued.thread());
        }
    }

    @Test
    void sandboxIsNotFoundForOtherUsers() {
        var annas = negotiate(anna, Scope.FS_RW);
        var bobs = negotiate(bob, Scope.values());
        String none = SandboxId.random(new SecureRandom()).value();
        for (Route route : routes()) {
            for (Api stranger : List.of(bob, bob.with(bobs.token()))) {
                var foreign = call(stranger, route, annas.sandbox());
                var absent = call(stranger, route, none);
                assertThat(foreign.status()).as(route.toString()).isEqualTo(404);
                assertThat(foreign.text().replace(annas.sandbox(), none))
                        .as(route.toString())
                        .isEqualTo(absent.text());
            }
        }
    }

    @Test
    void invalidTokenIsUnauthorizedOnEveryRoute() {
        var issued = negotiate(anna, Scope.values());
        var revoked = negotiate(anna, issued.thread(), Scope.values());
        anna.post("/threads/" + issued.thread() + "/sandbox/revoke", "{\"jti\":\"" + revoked.jti() + "\"}");
        var bad = List.of(
                "none", revoked.token(), issued.token() + "x", issued.token().substring(1), "a.b.c");
        for (Route route : routes()) {
            for (String token : bad) {
                assertThat(call(anna.with(token), route, issued.sandbox()).status())
                        .as(route.toString())
                        .isEqualTo(401);
            }
        }
    }

    @Test
    void invitationLimitsKeys() {
        var issued = negotiate(anna, Scope.FS_RW);
        anna.post(
                "/threads/" + issued.thread() + "/members",
                "{\"user_id\":\"bob\",\"scopes\":[\"fs:ro\",\"shell:ro\"]}");
        var max = Scopes.of(Scope.FS_RO, Scope.SHELL_RO);
        for (Route route : routes()) {
            int status = call(bob, route, issued.sandbox()).status();
            if (max.allows(scopeOf(route))) {
                assertThat(status).as(route.toString()).isNotIn(401, 403);
            } else {
                assertThat(status).as(route.toString()).isEqualTo(403);
            }
        }
    }

    @Test
    void everyTokenUseIsAudited() {
        var issued = negotiate(anna, Scope.values());
        for (Route route : routes()) {
            call(anna.with(issued.token()), route, issued.sandbox());
        }
        var used = anna.get("/threads/" + issued.thread() + "/audit?limit=1000").json().objects("entries").stream()
                .filter(entry -> entry.optionalString("jti").equals(Optional.of(issued.jti())))
                .map(entry -> entry.string("route"))
                .toList();
        assertThat(used)
                .containsAll(routes().stream().map(ScopedRoutesTest::name).toList());
    }

    @Test
    void tokensAppearNeitherInLogsNorInTheAudit() {
        var lines = new ArrayList<String>();
        var collector = collector(lines);
        var root = Logger.getLogger("");
        var vivarium = Logger.getLogger("dev.vivarium");
        var level = vivarium.getLevel();
        vivarium.setLevel(Level.ALL);
        root.addHandler(collector);
        var secrets = new ArrayList<String>();
        try {
            var issued = negotiate(anna, Scope.values());
            secrets.add(issued.token());
            String path = "/threads/" + issued.thread() + "/sandbox";
            secrets.add(anna.post(path + "/refresh", "{\"current_token\":\"" + issued.token() + "\"}")
                    .json()
                    .string("token"));
            secrets.add(
                    anna.with(issued.token()).post(path + "/token", "{}").json().string("token"));
            for (Route route : routes()) {
                call(anna.with(issued.token()), route, issued.sandbox());
                call(anna.with(issued.token() + "x"), route, issued.sandbox());
            }
            anna.with(issued.token()).get(path + "?token=" + issued.token());
            openAndCloseShell(issued);
            anna.method("DELETE", "/threads/" + issued.thread());
        } finally {
            root.removeHandler(collector);
            vivarium.setLevel(level);
        }
        String audit = server.api().get("/admin/audit?limit=1000").text();
        synchronized (lines) {
            for (String secret : secrets) {
                String signature = secret.substring(secret.lastIndexOf('.') + 1);
                assertThat(String.join("\n", lines)).doesNotContain(signature);
                assertThat(audit).doesNotContain(signature);
            }
        }
    }

    private static void openAndCloseShell(Issued issued) {
        try (var shell = ShellClient.enter(server.uri(), issued.sandbox(), issued.token(), "")) {
            shell.type("exit\n").await("exit");
        }
        try (var shell = ShellClient.connect(server.uri(), issued.sandbox())) {
            shell.auth(issued.token() + "x", "");
            assertThat(shell.awaitClose()).isEqualTo(4401);
        }
    }

    private record Issued(String thread, String sandbox, String token, String jti) {}

    private static Issued negotiate(Api api, Scope... scopes) {
        return negotiate(api, Api.thread(), scopes);
    }

    private static Issued negotiate(Api api, String thread, Scope... scopes) {
        String names = String.join("\",\"", Scopes.of(scopes).names());
        var answer = api.post("/threads/" + thread + "/sandbox", "{\"scopes\":[\"" + names + "\"]}")
                .json();
        return new Issued(thread, answer.string("sandbox_id"), answer.string("token"), answer.string("jti"));
    }

    private static List<Route> routes() {
        var scoped = server.routes().stream()
                .filter(route -> route.access() instanceof Route.Access.Scoped)
                .toList();
        assertThat(scoped).isNotEmpty();
        return scoped;
    }

    private static Scope scopeOf(Route route) {
        return ((Route.Access.Scoped) route.access()).scope();
    }

    private static String name(Route route) {
        return route.method() + " " + route.template();
    }

    /// Replaces path parameters by numbers, which are valid for a port, a process and a file.
    private static Api.Answer call(Api api, Route route, String sandbox) {
        String path = route.template().replace("{sandbox_id}", sandbox).replaceAll("\\{[^}]*}", "1");
        return route.method().equals("POST") ? api.post(path, "{}") : api.method(route.method(), path);
    }

    private static Handler collector(List<String> lines) {
        var formatter = new SimpleFormatter();
        return new Handler() {
            @Override
            public void publish(LogRecord entry) {
                synchronized (lines) {
                    lines.add(formatter.format(entry));
                }
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
    }
}
