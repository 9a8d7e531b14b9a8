package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.JsonFields;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.http.HttpClient;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/// The owner's view of a shared thread: current connections, the audit log and the origin of snapshots.
@Timeout(120)
class SharingViewTest {
    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with();

    private final Api admin = SERVER.api();
    private final Api anna = admin.as("anna");
    private final Api bob = admin.as("bob");
    private final String thread = Api.thread();
    private final String path = "/threads/" + thread;

    @Test
    void connectionsAreListedUntilTheyClose() throws Exception {
        var issued = negotiate(anna, "shell", "shell:ro");
        assertThat(ways(anna)).isEmpty();
        anna.invite(thread, "bob", "shell:ro");

        try (var stream = follow(bob, issued.string("sandbox_id"));
                var _ = ShellClient.enter(
                        SERVER.get().uri(), issued.string("sandbox_id"), issued.string("token"), "")) {
            assertThat(stream.readLine()).isNotNull();
            await().untilAsserted(() -> assertThat(ways(anna)).containsExactlyInAnyOrder("bob events", "anna type"));
            var shell = connections(bob).stream()
                    .filter(one -> one.string("way").equals("type"))
                    .findFirst()
                    .orElseThrow();
            assertThat(shell.string("jti")).isEqualTo(issued.string("jti"));

            anna.method("DELETE", path + "/members/bob");
            await().untilAsserted(() -> assertThat(ways(anna)).containsExactly("anna type"));
        }
        await().untilAsserted(() -> assertThat(ways(anna)).isEmpty());
        assertThat(bob.get(path + "/connections").status()).isEqualTo(404);
    }

    @Test
    void auditIsFilteredByUserKindAndOutcome() {
        var issued = negotiate(anna, "fs:ro");
        bob.get(path + "/sandbox?owner=anna");
        anna.invite(thread, "bob", "fs:ro");
        String sandbox = issued.string("sandbox_id");

        assertThat(kinds(path + "/audit?user_id=bob")).containsExactly("refused");
        assertThat(kinds(path + "/audit?kind=issued")).containsExactly("issued");
        assertThat(kinds(path + "/audit?sandbox_id=" + sandbox)).containsExactly("issued");
        assertThat(kinds(path + "/audit?outcome=done")).containsExactly("issued", "invited");
        assertThat(kinds(path + "/audit?outcome=refused")).containsExactly("refused");
        var all = audit(path + "/audit");
        assertThat(kinds(path + "/audit?limit=1&before=" + all.getLast().integer("seq")))
                .containsExactly("refused");
        assertThat(admin.get("/admin/audit?user_id=anna&thread_id=" + thread)
                        .json()
                        .objects("entries"))
                .extracting(entry -> entry.string("kind"))
                .containsExactly("issued", "invited", "used");
        for (String wrong : List.of("kind=x", "outcome=x", "before=x", "sandbox_id=../x")) {
            assertThat(anna.get(path + "/audit?" + wrong).status()).as(wrong).isEqualTo(400);
        }
    }

    @Test
    void snapshotsNameTheirParentsAndForks() {
        negotiate(anna, "fs:rw");
        String first = take("first");
        String second = take("second");
        assertThat(anna.post(path + "/snapshots/" + first + "/restore", "{}").status())
                .isEqualTo(200);
        String third = take("third");
        String other = Api.thread();
        var fork = anna.post(path + "/snapshots/" + second + "/fork", "{\"thread_id\":\"" + other + "\"}");
        assertThat(fork.status()).as(fork.text()).isEqualTo(201);

        var list = anna.get(path + "/snapshots").json();
        assertThat(list.objects("snapshots"))
                .extracting(one -> one.optionalString("parent_id").orElse(""))
                .containsExactly("", first, first);
        assertThat(list.string("current_id")).isEqualTo(third);
        assertThat(list.objects("forks")).singleElement().satisfies(one -> {
            assertThat(one.string("snapshot_id")).isEqualTo(second);
            assertThat(one.string("thread_id")).isEqualTo(other);
        });
        assertThat(anna.method("DELETE", path + "/snapshots/" + first).status()).isEqualTo(200);
        assertThat(anna.get(path + "/snapshots").json().objects("snapshots"))
                .allMatch(one -> one.optionalString("parent_id").isEmpty());
        var forked = anna.get("/threads/" + other + "/snapshots").json();
        assertThat(forked.object("forked_from").string("thread_id")).isEqualTo(thread);
        assertThat(forked.string("current_id")).isEqualTo(second);
    }

    @Test
    void forkOfAnotherUserIsNotListed() {
        negotiate(anna, "fs:rw");
        String snapshot = take("shared");
        anna.invite(thread, "bob", "snapshot");
        var fork = bob.post(path + "/snapshots/" + snapshot + "/fork", "{\"thread_id\":\"" + Api.thread() + "\"}");
        assertThat(fork.status()).as(fork.text()).isEqualTo(201);

        assertThat(anna.get(path + "/snapshots").json().objects("forks")).isEmpty();
        assertThat(bob.get(path + "/snapshots").json().objects("forks")).hasSize(1);
    }

    private String take(String name) {
        var answer = anna.post(path + "/snapshots", "{\"name\":\"" + name + "\"}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json().string("snapshot_id");
    }

    private JsonFields negotiate(Api as, String... scopes) {
        var answer = as.post(path + "/sandbox", "{\"scopes\":[\"" + String.join("\",\"", scopes) + "\"]}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json();
    }

    private List<JsonFields> connections(Api as) {
        return as.get(path + "/connections").json().objects("connections");
    }

    private List<String> ways(Api as) {
        return connections(as).stream()
                .map(one -> one.string("user_id") + " " + one.string("way"))
                .toList();
    }

    /// Returns the entries without those of this method itself.
    private List<JsonFields> audit(String route) {
        return anna.get(route).json().objects("entries").stream()
                .filter(entry -> !entry.string("route").equals("GET /threads/{thread_id}/audit"))
                .toList();
    }

    private Stream<String> kinds(String route) {
        return audit(route).stream().map(entry -> entry.string("kind"));
    }

    private static BufferedReader follow(Api as, String sandbox) throws Exception {
        var request = as.request("/api/v1/sandboxes/" + sandbox + "/events")
                .header("Accept", "text/event-stream")
                .build();
        var body = HttpClient.newHttpClient()
                .send(request, BodyHandlers.ofInputStream())
                .body();
        return new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
    }
}
