package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Snapshots through the API, on isolated sandboxes. Needs root.
@Tag("root")
class SnapshotApiTest {
    private static TestServer server;
    private static Api admin;
    private static Api ann;
    private static Api bob;
    private String thread;
    private String session;

    @BeforeAll
    static void start() {
        server = TestServer.startIsolated("--disk-mb", "64", "--pool-size", "0");
        admin = server.api();
        ann = admin.as("ann");
        bob = admin.as("bob");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void open() {
        thread = Api.thread();
        session = create(ann, thread).json().string("session_id");
    }

    private static Api.Answer create(Api api, String thread) {
        return api.post("/create_session", "{\"thread_id\":\"" + thread + "\"}");
    }

    private String snapshots() {
        return "/threads/" + thread + "/snapshots";
    }

    private String take(String name) {
        var answer = ann.post(snapshots(), "{\"name\":\"" + name + "\"}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        assertThat(answer.json().string("name")).isEqualTo(name);
        return answer.json().string("snapshot_id");
    }

    private String output(String session, String command) {
        return ann.execute(session, command).string("stdout").strip();
    }

    private static String forkRequest(String thread) {
        return "{\"thread_id\":\"" + thread + "\"}";
    }

    @Test
    void threadIsSavedAndRestored() {
        output(session, "echo before > file");
        String id = take("before the change");
        output(session, "echo after > file");

        var answer = ann.post(snapshots() + "/" + id + "/restore", "{}");

        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        assertThat(answer.json().string("session_id")).isEqualTo(session);
        assertThat(answer.json().string("state")).isEqualTo("running");
        assertThat(output(session, "cat file")).isEqualTo("before");
    }

    @Test
    void forkIsASeparateThread() {
        output(session, "echo origin > file");
        String path = snapshots() + "/" + take("") + "/fork";
        String other = Api.thread();
        var fork = ann.post(path, forkRequest(other));
        assertThat(fork.status()).as(fork.text()).isEqualTo(201);
        String forked = fork.json().string("session_id");
        output(forked, "echo fork > file");

        assertThat(output(session, "cat file")).isEqualTo("origin");
        assertThat(output(forked, "cat file")).isEqualTo("fork");
        assertThat(ann.post(path, forkRequest(other)).status()).isEqualTo(409);
        assertThat(admin.post(path, forkRequest(Api.thread())).json().string("user_id"))
                .isEqualTo("ann");
    }

    @Test
    void forkHasTheLeaseOfAThread() {
        String other = Api.thread();
        ann.post(snapshots() + "/" + take("") + "/fork", forkRequest(other));

        var found = ann.get("/threads/" + other + "/sandbox").json();

        assertThat(Duration.between(found.time("last_activity"), found.time("expires_at")))
                .isEqualTo(Duration.ofHours(1));
    }

    @Test
    void forkIntoTheNameOfAnotherUsersThreadBelongsToTheCaller() {
        String name = Api.thread();
        create(bob, name);
        var answer = ann.post(snapshots() + "/" + take("") + "/fork", forkRequest(name));
        assertThat(answer.status()).isEqualTo(201);
        assertThat(answer.json().string("user_id")).isEqualTo("ann");
    }

    @Test
    void snapshotsAreListedAndDeleted() {
        String first = take("first");
        String second = take("second");
        var list = ann.get(snapshots());
        assertThat(list.text().indexOf(first))
                .isPositive()
                .isLessThan(list.text().indexOf(second));
        assertThat(list.json().integer("limit")).isEqualTo(50);
        assertThat(ann.method("DELETE", snapshots() + "/" + first).status()).isEqualTo(200);
        assertThat(ann.method("DELETE", snapshots() + "/" + first).status()).isEqualTo(404);
        assertThat(ann.get(snapshots()).text()).doesNotContain(first).contains(second);
    }

    @Test
    void snapshotIsFoundByItsIdAlone() {
        String id = take("one");
        var found = ann.get("/snapshots/" + id);
        assertThat(found.status()).as(found.text()).isEqualTo(200);
        assertThat(found.json().string("thread_id")).isEqualTo(thread);
        assertThat(admin.get("/snapshots/" + id).status()).isEqualTo(200);
        var foreign = bob.get("/snapshots/" + id);
        var absent = bob.get("/snapshots/snp" + "0".repeat(20));
        assertThat(foreign.status()).isEqualTo(404);
        assertThat(foreign.text().replace(id, "")).isEqualTo(absent.text().replace("snp" + "0".repeat(20), ""));
        assertThat(ann.get("/snapshots/nonsense").status()).isEqualTo(404);
        ann.post("/threads/" + thread + "/members", "{\"user_id\":\"bob\",\"scopes\":[\"fs:ro\"]}");
        assertThat(bob.get("/snapshots/" + id).status()).isEqualTo(403);
    }

    @Test
    void strangersAndUnknownThreadsGetTheSame404() {
        String id = take("");
        for (String path : new String[] {snapshots() + "/" + id, "/threads/none/snapshots/" + id}) {
            assertThat(bob.method("DELETE", path).status()).isEqualTo(404);
            assertThat(bob.post(path + "/restore", "{}").status()).isEqualTo(404);
            assertThat(bob.post(path + "/fork", forkRequest("x")).status()).isEqualTo(404);
        }
        assertThat(bob.get(snapshots()).status()).isEqualTo(404);
        assertThat(bob.post(snapshots(), "{}").status()).isEqualTo(404);
        String other = Api.thread();
        create(ann, other);
        assertThat(ann.post("/threads/" + other + "/snapshots/" + id + "/restore", "{}")
                        .status())
                .isEqualTo(404);
    }

    @Test
    void invalidRequestsAreRejected() {
        assertThat(ann.post(snapshots(), "{\"nmae\":\"x\"}").status()).isEqualTo(400);
        assertThat(ann.post(snapshots(), "{\"name\":\"" + "x".repeat(200) + "\"}")
                        .status())
                .isEqualTo(400);
        String fork = snapshots() + "/" + take("") + "/fork";
        assertThat(ann.post(fork, "{}").status()).isEqualTo(400);
        assertThat(ann.post(fork, "{\"thread_id\":\"x\",\"user_id\":\"bob\"}").status())
                .isEqualTo(403);
        assertThat(admin.with("none").get(snapshots()).status()).isEqualTo(401);
    }

    @Test
    void archivingAThreadDeletesItsSnapshotsButNotItsForks() {
        output(session, "echo kept > file");
        String id = take("");
        var fork = ann.post(snapshots() + "/" + id + "/fork", forkRequest(Api.thread()));
        String forked = fork.json().string("session_id");

        assertThat(ann.method("DELETE", "/threads/" + thread).status()).isEqualTo(200);

        assertThat(ann.get("/snapshots/" + id).status()).isEqualTo(404);
        assertThat(output(forked, "cat file; echo more > file; cat file")).isEqualTo("kept\nmore");
    }

    @Test
    void snapshotsSurviveTheSandbox() {
        output(session, "echo kept > file");
        String id = take("");
        ann.post("/cleanup", "{\"session_id\":\"" + session + "\"}");
        assertThat(ann.post(snapshots(), "{}").status()).isEqualTo(404);
        assertThat(ann.post(snapshots() + "/" + id + "/restore", "{}").status()).isEqualTo(404);
        var fork = ann.post(snapshots() + "/" + id + "/fork", forkRequest(thread));
        assertThat(fork.status()).as(fork.text()).isEqualTo(201);
        assertThat(output(fork.json().string("session_id"), "cat file")).isEqualTo("kept");
    }
}
