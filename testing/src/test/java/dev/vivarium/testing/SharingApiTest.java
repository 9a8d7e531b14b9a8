package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// Sharing of a thread's sandbox between users and agents, over HTTP.
class SharingApiTest {
    private static TestServer server;
    private static Api admin;
    private static Api anna;
    private static Api bob;

    private final String thread = Api.thread();
    private final String path = "/threads/" + thread + "/sandbox";

    @BeforeAll
    static void start() {
        server = TestServer.start();
        admin = server.api();
        anna = admin.as("anna");
        bob = admin.as("bob");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void negotiationCreatesTheSandboxOnceAndReturnsItsEndpoints() {
        Instant before = Instant.now();
        var first = ok(anna.post(path, "{\"scopes\":[\"fs:rw\",\"shell\"],\"ttl\":900}"));
        assertLifetime(first, before, Duration.ofSeconds(900));
        var second = ok(anna.post(path, "{\"sandbox_id\":\"sbx_abc123\",\"scopes\":[\"fs:ro\"]}"));

        String id = first.string("sandbox_id");
        assertThat(second.string("sandbox_id")).isEqualTo(id);
        assertThat(first.flag("created")).isTrue();
        assertThat(second.flag("created")).isFalse();
        assertThat(first.optionalStrings("scopes")).contains(List.of("fs:rw", "shell"));
        assertThat(second.optionalStrings("scopes")).contains(List.of("fs:ro"));
        String base = server.uri().getAuthority() + "/sandboxes/" + id;
        assertThat(first.object("endpoints").string("http")).isEqualTo("http://" + base);
        assertThat(first.object("endpoints").string("ws")).isEqualTo("ws://" + base + "/shell");
        assertThat(Duration.between(first.time("refresh_before"), first.time("expires_at")))
                .isEqualTo(Duration.ofMinutes(5));
    }

    @Test
    void tokenLifetimeIsClamped() {
        Instant before = Instant.now();
        assertLifetime(ok(anna.post(path, "{\"ttl\":86400}")), before, Duration.ofSeconds(900));
        assertLifetime(ok(anna.post(path, "{\"ttl\":-1}")), before, Duration.ofSeconds(60));
    }

    @Test
    void invalidRequestIsRejected() {
        for (String body : List.of(
                "{\"scopes\":[]}",
                "{\"scopes\":[\"root\"]}",
                "{\"scopes\":\"fs:rw\"}",
                "{\"scopes\":[1]}",
                "{\"ttl\":\"900\"}",
                "{\"ttl\":1.5}",
                "{\"owner\":\"x\"}",
                "[]")) {
            assertThat(anna.post(path, body).status()).as(body).isEqualTo(400);
        }
        assertThat(anna.post(path, "{\"user_id\":\"bob\"}").status()).isEqualTo(403);
    }

    @Test
    void leaseOfAThreadIsOneHour() {
        ok(anna.post(path, "{}"));

        var found = ok(anna.get(path));
        assertThat(Duration.between(found.time("last_activity"), found.time("expires_at")))
                .isEqualTo(Duration.ofHours(1));
    }

    @Test
    void negotiationTakesTheOptionsOfASandbox() {
        String options = """
                {"timeout_minutes":7,"env":{"COLOUR":"blue"},"limits":{"processes":40},"scopes":["process"]}""";
        var issued = ok(anna.post(path, options));
        String id = issued.string("sandbox_id");
        assertThat(ok(anna.post("/execute", Api.command(id, "echo $COLOUR"))).string("stdout"))
                .isEqualTo("blue\n");
        var found = ok(anna.get(path));
        assertThat(Duration.between(found.time("last_activity"), found.time("expires_at")))
                .isEqualTo(Duration.ofMinutes(7));
        assertThat(found.string("expires_by")).isEqualTo("idle");
        assertThat(ok(anna.get("/get_session?thread_id=" + thread))
                        .object("limits")
                        .integer("processes"))
                .isEqualTo(40);

        assertThat(ok(anna.post(path, options)).string("sandbox_id")).isEqualTo(id);
        var other = anna.post(path, options.replace("blue", "red"));
        assertThat(other.status()).isEqualTo(400);
        assertThat(other.json().string("field")).isEqualTo("env");
        assertThat(anna.post(path, "{\"image\":\"no-such-image\"}").status()).isEqualTo(400);
        assertThat(anna.post(path, "{\"limits\":{\"processes\":1000000}}").status())
                .isEqualTo(400);
        assertThat(anna.post(path, "{\"owner\":\"x\"}").status()).isEqualTo(400);
        ok(anna.post("/threads/" + thread + "/members", "{\"user_id\":\"bob\",\"scopes\":[\"fs:ro\"]}"));
        assertThat(bob.post(path, options).status()).isEqualTo(403);
    }

    @Test
    void heartbeatOfAUserOrAgentExtendsTheLease() {
        String token = ok(anna.post(path, "{\"scopes\":[\"fs:ro\"]}")).string("token");
        Instant before = ok(anna.get(path)).time("expires_at");

        Instant byAgent = ok(anna.with(token).post("/threads/" + thread + "/heartbeat", "{}"))
                .time("expires_at");
        Instant byUser = ok(anna.method("POST", path + "/heartbeat")).time("expires_at");

        assertThat(byAgent).isAfterOrEqualTo(before);
        assertThat(byUser).isAfterOrEqualTo(byAgent);
    }

    @Test
    void refreshNeedsTheTokenAndNeverAddsScopes() {
        var old = ok(anna.post(path, "{\"scopes\":[\"fs:ro\",\"process\"]}"));
        String body = "{\"sandbox_id\":\"" + old.string("sandbox_id") + "\",\"current_token\":\"" + old.string("token")
                + "\",\"scopes\":[\"fs:rw\",\"shell\",\"process\"]}";

        var next = ok(anna.post(path + "/refresh", body));

        assertThat(next.optionalStrings("scopes")).contains(List.of("fs:ro", "process"));
        assertThat(next.string("token")).isNotEqualTo(old.string("token"));
        assertThat(anna.post(path + "/refresh", "{\"current_token\":\"x.y.z\"}").status())
                .isEqualTo(401);
        assertThat(anna.post(path + "/refresh", "{}").status()).isEqualTo(400);
        assertThat(anna.with(old.string("token")).post(path + "/refresh", body).status())
                .isEqualTo(403);
        assertThat(bob.post(path + "/refresh", body).status()).isEqualTo(404);
    }

    @Test
    void derivedTokensAreNarrowerAndEndWithTheirParent() {
        var parent = ok(anna.post(path, "{\"scopes\":[\"fs:rw\",\"shell\"],\"ttl\":120}"));
        var holder = anna.with(parent.string("token"));

        var child = ok(holder.post(path + "/token", "{\"scopes\":[\"fs:ro\",\"process\"],\"ttl\":900}"));
        var same = ok(holder.post(path + "/token", "{}"));

        assertThat(child.optionalStrings("scopes")).contains(List.of("fs:ro"));
        assertThat(same.optionalStrings("scopes")).contains(List.of("fs:rw", "shell"));
        assertThat(child.time("expires_at")).isBeforeOrEqualTo(parent.time("expires_at"));
        var grandchild = anna.with(child.string("token"));
        assertThat(grandchild
                        .post(path + "/token", "{\"scopes\":[\"fs:rw\"]}")
                        .json()
                        .optionalStrings("scopes"))
                .contains(List.of("fs:ro"));
        assertThat(grandchild.post(path + "/token", "{\"scopes\":[\"shell\"]}").status())
                .isEqualTo(403);
        ok(anna.post(path + "/revoke", "{\"jti\":\"" + parent.string("jti") + "\"}"));
        assertThat(grandchild.get(path).status()).isEqualTo(401);
        assertThat(anna.post(path + "/token", "{}").status()).isEqualTo(400);
    }

    @Test
    void revokedTokenEndsTheStreamThatItOpened() throws Exception {
        var one = ok(anna.post(path, "{}"));
        String sandbox = "/sandboxes/" + one.string("sandbox_id");
        var holder = anna.with(one.string("token"));
        var stream = HttpClient.newHttpClient()
                .send(
                        holder.request(sandbox + "/exec")
                                .header("Content-Type", "application/json")
                                .header("Accept", "application/x-ndjson")
                                .POST(BodyPublishers.ofString(
                                        "{\"command\":\"echo begun; exec sleep 1000\",\"timeout\":1000}"))
                                .build(),
                        BodyHandlers.ofInputStream())
                .body();
        try (var lines = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
            while (!lines.readLine().contains("begun")) {}

            ok(anna.post(path + "/revoke", "{\"jti\":\"" + one.string("jti") + "\"}"));

            assertThatThrownBy(() -> lines.lines().count()).isInstanceOf(UncheckedIOException.class);
        }
        // The server also kills the command, as after a disconnect.
        var another = anna.with(ok(anna.post(path, "{}")).string("token"));
        await().until(() ->
                another.get(sandbox + "/processes").json().objects("processes").isEmpty());
    }

    @Test
    void revokedTokenIsRejectedOnTheNextRequest() {
        var one = ok(anna.post(path, "{}"));
        var other = ok(anna.post(path, "{}"));
        assertThat(anna.with(one.string("token")).get(path).status()).isEqualTo(200);

        ok(anna.post(path + "/revoke", "{\"jti\":\"" + one.string("jti") + "\"}"));

        assertThat(anna.with(one.string("token")).get(path).status()).isEqualTo(401);
        assertThat(anna.with(other.string("token")).get(path).status()).isEqualTo(200);
        assertThat(anna.with(other.string("token"))
                        .post(path + "/revoke", "{\"jti\":\"tok_aaaaaaaaaaaaaaaaaaaa\"}")
                        .status())
                .isEqualTo(403);
        ok(anna.with(other.string("token")).post(path + "/revoke", "{\"jti\":\"" + other.string("jti") + "\"}"));
        assertThat(anna.with(other.string("token")).get(path).status()).isEqualTo(401);
        String third = ok(anna.post(path, "{}")).string("token");
        ok(anna.post(path + "/revoke", "{\"all\":true}"));
        assertThat(anna.with(third).get(path).status()).isEqualTo(401);
        assertThat(anna.post(path + "/revoke", "{}").status()).isEqualTo(400);
    }

    @Test
    void tokenOpensOnlyItsOwnThread() {
        String token = ok(anna.post(path, "{}")).string("token");
        String other = Api.thread();
        ok(anna.post("/threads/" + other + "/sandbox", "{}"));

        assertThat(anna.with(token).get("/threads/" + other + "/sandbox").status())
                .isEqualTo(404);
        for (String route : List.of("/threads", "/get_session?thread_id=" + thread, "/admin/keys", "/metrics")) {
            assertThat(anna.with(token).get(route).status()).as(route).isEqualTo(403);
        }
        assertThat(anna.with(token).method("DELETE", path).status()).isEqualTo(403);
        assertThat(anna.with(token).get("/no/such/path").status()).isEqualTo(404);
    }

    @Test
    void invitationLimitsTheScopesOfAMember() {
        ok(anna.post(path, "{}"));
        assertThat(bob.get(path).status()).isEqualTo(404);
        ok(anna.post("/threads/" + thread + "/members", "{\"user_id\":\"bob\",\"scopes\":[\"fs:ro\",\"shell:ro\"]}"));

        var token = ok(bob.post(path, "{\"scopes\":[\"fs:rw\",\"shell\",\"process\"]}"));

        assertThat(token.optionalStrings("scopes")).contains(List.of("fs:ro", "shell:ro"));
        assertThat(bob.get("/threads").text()).contains(thread);
        assertThat(bob.post(path, "{\"scopes\":[\"process\"]}").status()).isEqualTo(403);
        for (String forbidden : List.of("/audit")) {
            assertThat(bob.get("/threads/" + thread + forbidden).status()).isEqualTo(403);
        }
        assertThat(bob.method("DELETE", path).status()).isEqualTo(403);
        assertThat(bob.method("DELETE", "/threads/" + thread).status()).isEqualTo(403);
        assertThat(bob.post("/threads/" + thread + "/members", "{\"user_id\":\"c\",\"scopes\":[\"fs:ro\"]}")
                        .status())
                .isEqualTo(403);
        assertThat(bob.with(token.string("token")).get(path).status()).isEqualTo(200);
        ok(anna.method("DELETE", "/threads/" + thread + "/members/bob"));
        assertThat(bob.with(token.string("token")).get(path).status()).isEqualTo(404);
        assertThat(bob.get(path).status()).isEqualTo(404);
        assertThat(anna.method("DELETE", "/threads/" + thread + "/members/bob").status())
                .isEqualTo(404);
    }

    @Test
    void threadOfAnotherUserIsNotFound() {
        ok(anna.post(path, "{}"));
        String none = Api.thread();
        for (String owner : List.of("", "?owner=anna")) {
            for (String rest : List.of("/sandbox", "/audit", "/members", "/egress")) {
                var foreign = bob.get("/threads/" + thread + rest + owner);
                var absent = bob.get("/threads/" + none + rest + owner);
                assertThat(foreign.status()).isEqualTo(404);
                assertThat(foreign.text().replace(thread, none)).isEqualTo(absent.text());
            }
            for (String route :
                    List.of("/sandbox/refresh", "/sandbox/token", "/sandbox/revoke", "/heartbeat", "/members")) {
                assertThat(bob.post("/threads/" + thread + route + owner, "{}").status())
                        .as(route)
                        .isEqualTo(404);
            }
            assertThat(bob.method("DELETE", path + owner).status()).isEqualTo(404);
            assertThat(bob.method("DELETE", "/threads/" + thread + owner).status())
                    .isEqualTo(404);
        }
        assertThat(bob.post(path + "?owner=anna", "{}").status()).isEqualTo(404);
        assertThat(bob.post("/threads/" + none + "/sandbox?owner=anna", "{}").status())
                .isEqualTo(404);
    }

    @Test
    void releasingAndArchivingEndTheSandboxAndItsTokens() {
        var first = ok(anna.post(path, "{}"));
        ok(anna.method("DELETE", path));
        assertThat(anna.get(path).status()).isEqualTo(404);
        assertThat(anna.method("DELETE", path).status()).isEqualTo(404);
        assertThat(anna.get("/threads").text()).contains(thread);

        var second = ok(anna.post(path, "{}"));
        assertThat(second.string("sandbox_id")).isNotEqualTo(first.string("sandbox_id"));
        assertThat(anna.with(first.string("token")).get(path).status()).isEqualTo(404);
        ok(anna.method("DELETE", "/threads/" + thread));
        assertThat(anna.with(second.string("token")).get(path).status()).isEqualTo(404);
        assertThat(anna.get("/threads").text()).doesNotContain(thread);

        ok(anna.post(path, "{}"));
        assertThat(anna.get("/threads").text()).contains(thread);
    }

    @Test
    void adminActsForAUserOrForItself() {
        ok(admin.post(path, "{\"user_id\":\"anna\"}"));
        assertThat(ok(anna.get(path)).string("user_id")).isEqualTo("anna");
        assertThat(ok(admin.post(path, "{}")).string("thread_id")).isEqualTo(thread);
        assertThat(admin.post(path + "?owner=anna", "{\"user_id\":\"bob\"}").status())
                .isEqualTo(404);
        String own = Api.thread();
        ok(admin.post("/threads/" + own + "/sandbox", "{}"));
        assertThat(ok(admin.get("/threads/" + own + "/sandbox")).string("user_id"))
                .isEqualTo("admin");
        assertThat(anna.get("/threads/" + own + "/sandbox").status()).isEqualTo(404);
    }

    @Test
    void adminListsKillsAndRotatesSandboxes() {
        var issued = ok(anna.post(path, "{}"));
        String id = issued.string("sandbox_id");
        assertThat(admin.get("/admin/sandboxes").text()).contains(id);

        ok(admin.method("POST", "/admin/sandboxes/" + id + "/rotate"));
        assertThat(anna.with(issued.string("token")).get(path).status()).isEqualTo(401);
        ok(admin.method("DELETE", "/admin/sandboxes/" + id));

        assertThat(anna.get(path).status()).isEqualTo(404);
        assertThat(admin.method("DELETE", "/admin/sandboxes/" + id).status()).isEqualTo(404);
        assertThat(anna.get("/admin/sandboxes").status()).isEqualTo(403);
        assertThat(anna.get("/admin/audit").status()).isEqualTo(403);
    }

    @Test
    void auditRecordsIssuedRefusedAndRevokedTokens() {
        var issued = ok(anna.post(path, "{\"scopes\":[\"fs:ro\"]}"));
        bob.get(path + "?owner=anna");
        bob.get(path);
        ok(anna.post(path + "/revoke", "{\"jti\":\"" + issued.string("jti") + "\"}"));

        var page = ok(anna.get("/threads/" + thread + "/audit"));
        var entries = page.objects("entries");

        assertThat(entries).extracting(entry -> entry.string("kind")).containsExactly("issued", "refused", "revoked");
        var first = entries.getFirst();
        assertThat(first.string("jti")).isEqualTo(issued.string("jti"));
        assertThat(first.string("sub")).isEqualTo("anna");
        assertThat(first.string("aud")).isEqualTo(issued.string("sandbox_id"));
        assertThat(first.string("scope")).isEqualTo("fs:ro");
        assertThat(entries.get(1).string("sub")).isEqualTo("bob");
        assertThat(entries.get(1).integer("outcome")).isEqualTo(404);
        long after = entries.get(1).integer("seq");
        assertThat(ok(anna.get("/threads/" + thread + "/audit?limit=1&after=" + after))
                        .objects("entries"))
                .singleElement()
                .satisfies(entry -> assertThat(entry.string("kind")).isEqualTo("revoked"));
        assertThat(ok(admin.get("/admin/audit?limit=1000")).objects("entries")).hasSizeGreaterThan(2);
        assertThat(anna.get("/threads/" + thread + "/audit?limit=0").status()).isEqualTo(400);
        assertThat(anna.get("/threads/" + thread + "/audit?after=x").status()).isEqualTo(400);
    }

    @Test
    void everyTokenUseIsAudited() {
        var issued = ok(anna.post(path, "{\"scopes\":[\"snapshot\"]}"));
        var holder = admin.with(issued.string("token"));
        String snapshots = "/threads/" + thread + "/snapshots";
        ok(holder.get(path));
        ok(holder.post("/threads/" + thread + "/heartbeat", "{}"));
        String snapshot = holder.post(snapshots, "{}").json().string("snapshot_id");
        ok(holder.get("/snapshots/" + snapshot));
        ok(holder.post(snapshots + "/" + snapshot + "/restore", "{}"));
        ok(holder.method("DELETE", snapshots + "/" + snapshot));
        ok(holder.post(path + "/token", "{}"));

        var used = ok(anna.get("/threads/" + thread + "/audit")).objects("entries").stream()
                .filter(entry -> entry.string("kind").equals("used"))
                .toList();

        assertThat(used)
                .extracting(entry -> entry.string("route"))
                .containsExactly(
                        "GET /threads/{thread_id}/sandbox",
                        "POST /threads/{thread_id}/heartbeat",
                        "POST /threads/{thread_id}/snapshots",
                        "GET /snapshots/{snapshot_id}",
                        "POST /threads/{thread_id}/snapshots/{snapshot_id}/restore",
                        "DELETE /threads/{thread_id}/snapshots/{snapshot_id}",
                        "POST /threads/{thread_id}/sandbox/token");
        assertThat(used).allSatisfy(entry -> assertNamesToken(entry, issued));
    }

    @Test
    void snapshotByKeyIsAudited() {
        ok(anna.post(path, "{}"));
        anna.post("/threads/" + thread + "/snapshots", "{}");

        var last =
                ok(anna.get("/threads/" + thread + "/audit")).objects("entries").getLast();

        assertThat(last.string("kind")).isEqualTo("used");
        assertThat(last.string("route")).isEqualTo("POST /threads/{thread_id}/snapshots");
        assertThat(last.string("sub")).isEqualTo("anna");
    }

    @Test
    void rejectionNamesTheTokenInTheAudit() {
        var issued = ok(anna.post(path, "{\"scopes\":[\"fs:ro\"]}"));
        var holder = admin.with(issued.string("token"));
        String box = "/sandboxes/" + issued.string("sandbox_id");

        assertThat(holder.post(box + "/exec", "{\"command\":\"id\"}").status()).isEqualTo(403);
        assertThat(holder.get(box + "/ports/80/").status()).isEqualTo(403);
        assertThat(holder.get("/threads/" + thread + "/snapshots").status()).isEqualTo(403);

        var refused = ok(anna.get("/threads/" + thread + "/audit")).objects("entries").stream()
                .filter(entry -> entry.string("kind").equals("refused"))
                .toList();
        assertThat(refused).hasSize(3).allSatisfy(entry -> assertNamesToken(entry, issued));
    }

    @Test
    void rejectionOfARevokedTokenNamesTheTokenInTheAudit() {
        var issued = ok(anna.post(path, "{\"scopes\":[\"fs:ro\"]}"));
        ok(anna.post(path + "/revoke", "{\"jti\":\"" + issued.string("jti") + "\"}"));
        var holder = admin.with(issued.string("token"));

        assertThat(holder.get("/sandboxes/" + issued.string("sandbox_id") + "/files/a")
                        .status())
                .isEqualTo(401);
        assertThat(holder.get(path).status()).isEqualTo(401);

        var refused = ok(anna.get("/threads/" + thread + "/audit")).objects("entries").stream()
                .filter(entry -> entry.string("kind").equals("refused"))
                .toList();
        assertThat(refused).hasSize(2).allSatisfy(entry -> assertNamesToken(entry, issued));
    }

    private static void assertNamesToken(JsonFields entry, JsonFields issued) {
        assertThat(entry.string("jti")).isEqualTo(issued.string("jti"));
        assertThat(entry.string("sub")).isEqualTo("anna");
        assertThat(entry.string("aud")).isEqualTo(issued.string("sandbox_id"));
        assertThat(entry.string("scope"))
                .isEqualTo(String.join(" ", issued.optionalStrings("scopes").orElseThrow()));
    }

    @Test
    void threadsAreListedInPages() {
        var carl = admin.as("carl");
        for (int i = 0; i < 3; i++) {
            ok(carl.post("/threads/" + thread + i + "/sandbox", "{}"));
        }
        var first = ok(carl.get("/threads?limit=2"));
        var second = ok(carl.get("/threads?limit=2&after=" + first.string("next_after")));

        assertThat(names(first)).containsExactly(thread + "0", thread + "1");
        assertThat(names(second)).containsExactly(thread + "2");
        assertThat(second.optionalString("next_after")).isEqualTo(Optional.empty());
        assertThat(first.objects("threads").getFirst().object("sandbox").string("state"))
                .isEqualTo("running");
        assertThat(names(ok(admin.get("/threads?user_id=carl")))).hasSize(3);
    }

    @Test
    void opaqueTokensSurviveARestartAndCanBeRevoked() {
        try (var opaque = TestServer.start("--token-mode", "opaque")) {
            var dora = opaque.api().as("dora");
            var issued = ok(dora.post(path, "{}"));
            String token = issued.string("token");
            assertThat(token).startsWith("vvt_");
            assertThat(dora.with(token).get(path).status()).isEqualTo(200);
            opaque.restart();
            var again = new Api(opaque.uri(), token);
            assertThat(again.get(path).status()).isEqualTo(200);
            ok(again.post(path + "/revoke", "{\"jti\":\"" + issued.string("jti") + "\"}"));
            assertThat(again.get(path).status()).isEqualTo(401);
        }
    }

    @Test
    void serverPolicyLimitsTheScopesOfAllTokens() {
        try (var strict = TestServer.start(
                "--token-scopes",
                "fs:ro shell",
                "--command-policy",
                "allowlist",
                "--public-url",
                "https://v.test/x/")) {
            var issued = ok(strict.api().post(path, "{\"scopes\":[\"fs:rw\",\"shell\",\"process\"]}"));
            assertThat(issued.optionalStrings("scopes")).contains(List.of("fs:ro", "shell:ro"));
            assertThat(issued.object("endpoints").string("ws"))
                    .isEqualTo("wss://v.test/x/sandboxes/" + issued.string("sandbox_id") + "/shell");
        }
    }

    private static List<String> names(JsonFields page) {
        return page.objects("threads").stream()
                .map(entry -> entry.string("thread_id"))
                .toList();
    }

    /// Asserts that a token issued since `before` lives for `life`, to the second.
    private static void assertLifetime(JsonFields issued, Instant before, Duration life) {
        assertThat(issued.time("expires_at"))
                .isBetween(before.plus(life).minusSeconds(1), Instant.now().plus(life));
    }

    private static JsonFields ok(Api.Answer answer) {
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return Json.answer(answer.text());
    }
}
