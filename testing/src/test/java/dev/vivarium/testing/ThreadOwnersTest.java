package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.json.JsonFields;
import dev.vivarium.model.UserId;
import dev.vivarium.sdk.RemoteClient;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/// Threads of the same name of several users, over HTTP.
class ThreadOwnersTest {
    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with();

    private final Api admin = SERVER.api();
    private final Api anna = admin.as("anna");
    private final Api bob = admin.as("bob");
    private final Api carl = admin.as("carl");
    private final String thread = Api.thread();
    private final String path = "/threads/" + thread;

    @Test
    void usersCreateSandboxesForThreadsOfTheSameName() {
        var first = create(anna);
        var second = create(bob);
        assertThat(second.string("session_id")).isNotEqualTo(first.string("session_id"));
        run(anna, first, "echo secret > file");
        assertThat(run(bob, second, "ls")).isEmpty();
        assertThat(ok(anna.get("/get_session?thread_id=" + thread)).string("session_id"))
                .isEqualTo(first.string("session_id"));
        assertThat(anna.post("/create_session", body()).status()).isEqualTo(409);
    }

    @Test
    void nameOfAnotherUsersThreadLooksUnused() {
        var unused = carl.post("/create_session", "{\"thread_id\":\"" + Api.thread() + "\"}");
        create(anna);
        var used = carl.post("/create_session", body());
        assertThat(used.status()).isEqualTo(unused.status()).isEqualTo(201);
        assertThat(fieldsOf(used)).isEqualTo(fieldsOf(unused));
    }

    @Test
    void memberReachesTheThreadOfTheOwner() {
        create(anna);
        anna.invite(thread, "bob", "fs:ro");
        for (String query : List.of("", "?owner=anna")) {
            assertThat(ok(bob.get(path + "/sandbox" + query)).string("user_id")).isEqualTo("anna");
        }
        var session = ok(bob.get("/get_session?thread_id=" + thread));
        assertThat(session.string("user_id")).isEqualTo("anna");
        assertThat(session.integer("files_count")).isZero();
        String files = "/list_files?session_id=" + session.string("session_id");
        assertThat(bob.get(files).status()).isEqualTo(200);
        assertThat(carl.get(files).status()).isEqualTo(404);
        assertThat(carl.get("/get_session?thread_id=" + thread + "&owner=anna").status())
                .isEqualTo(404);
    }

    @Test
    void memberWithoutTheScopeOfAListingIsRefused() {
        create(anna);
        anna.invite(thread, "bob", "shell:ro");
        String session = ok(bob.get("/get_session?thread_id=" + thread)).string("session_id");
        assertThat(bob.get("/list_files?session_id=" + session).status()).isEqualTo(403);
    }

    @Test
    void ownThreadComesBeforeASharedOne() {
        create(anna);
        anna.invite(thread, "bob", "fs:ro");
        create(bob);
        assertThat(ok(bob.get(path + "/sandbox")).string("user_id")).isEqualTo("bob");
        assertThat(ok(bob.get(path + "/sandbox?owner=anna")).string("user_id")).isEqualTo("anna");
        var token = ok(bob.post(path + "/sandbox?owner=anna", "{\"scopes\":[\"fs:ro\"]}"));
        assertThat(token.string("user_id")).isEqualTo("anna");
        var holder = bob.with(token.string("token"));
        assertThat(ok(holder.get(path + "/sandbox")).string("user_id")).isEqualTo("anna");
        assertThat(holder.get(path + "/sandbox?owner=bob").status()).isEqualTo(404);
    }

    @Test
    void nameThatSeveralUsersShareIsAmbiguous() {
        create(anna);
        create(carl);
        anna.invite(thread, "bob", "fs:ro");
        carl.invite(thread, "bob", "fs:ro");
        for (var answer : List.of(
                bob.get(path + "/sandbox"),
                bob.get("/get_session?thread_id=" + thread),
                bob.post(path + "/sandbox", "{}"),
                admin.get(path + "/sandbox"))) {
            assertThat(answer.status()).isEqualTo(409);
            assertThat(answer.json().optionalStrings("owners")).contains(List.of("anna", "carl"));
        }
        assertThat(ok(bob.get(path + "/sandbox?owner=carl")).string("user_id")).isEqualTo("carl");
        assertThat(ok(bob.get("/get_session?thread_id=" + thread + "&owner=carl"))
                        .string("user_id"))
                .isEqualTo("carl");
        ok(anna.method("DELETE", path + "/members/bob"));
        assertThat(ok(bob.get(path + "/sandbox")).string("user_id")).isEqualTo("carl");
    }

    @Test
    void adminNamesTheUser() {
        create(anna);
        assertThat(ok(admin.get(path + "/sandbox")).string("user_id")).isEqualTo("anna");
        create(bob);
        for (String name : List.of("user_id", "owner")) {
            assertThat(ok(admin.get(path + "/sandbox?" + name + "=bob")).string("user_id"))
                    .isEqualTo("bob");
            assertThat(ok(admin.get("/get_session?thread_id=" + thread + "&" + name + "=anna"))
                            .string("user_id"))
                    .isEqualTo("anna");
        }
        assertThat(ok(admin.post(path + "/sandbox", "{\"user_id\":\"bob\"}")).string("user_id"))
                .isEqualTo("bob");
        assertThat(admin.get(path + "/sandbox?owner=carl").status()).isEqualTo(404);
        ok(admin.post(path + "/sandbox?owner=carl", "{}"));
        assertThat(ok(carl.get(path + "/sandbox")).string("user_id")).isEqualTo("carl");
    }

    @Test
    void membersSnapshotsAndAuditOfTheTwoThreadsAreSeparate() {
        create(anna);
        create(bob);
        anna.invite(thread, "carl", "snapshot");
        assertThat(ok(bob.get(path + "/members")).objects("members")).isEmpty();
        ok(anna.method("DELETE", path));
        assertThat(ok(bob.get(path + "/sandbox")).string("state")).isEqualTo("running");
        assertThat(anna.get(path + "/sandbox").status()).isEqualTo(404);
        var seen = ok(bob.get(path + "/audit")).objects("entries").stream()
                .map(entry -> entry.optionalString("sub").orElse(""))
                .toList();
        assertThat(seen).containsOnly("bob");
    }

    @Test
    void threadsOfTheSameNameAreListedWithTheirOwnersPageByPage() {
        create(anna);
        create(bob);
        anna.invite(thread, "bob", "fs:ro");
        var first = ok(bob.get("/threads?limit=1&after=" + before(thread)));
        var second = ok(bob.get("/threads?limit=1&after=" + first.string("next_after") + "&after_owner="
                + first.string("next_after_owner")));
        assertThat(owner(first)).isEqualTo("anna");
        assertThat(owner(second)).isEqualTo("bob");
    }

    @Test
    void clientOfAnOwnerCallsTheThreadsOfThatOwner() {
        create(anna);
        create(bob);
        anna.invite(thread, "bob", "fs:ro");
        var client = RemoteClient.of(SERVER.get().uri(), bob.key());
        assertThat(client.sharing().members(thread).owner()).isEqualTo(new UserId("bob"));
        assertThat(client.ofOwner("anna").sharing().members(thread).owner()).isEqualTo(new UserId("anna"));
    }

    /// Returns a position directly before the thread.
    private static String before(String thread) {
        return thread.substring(0, thread.length() - 1);
    }

    private static String owner(JsonFields page) {
        return page.objects("threads").getFirst().string("user_id");
    }

    private JsonFields create(Api user) {
        var answer = user.post("/create_session", body());
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json();
    }

    private String body() {
        return "{\"thread_id\":\"" + thread + "\"}";
    }

    private static String run(Api user, JsonFields session, String command) {
        return ok(user.post("/execute", Api.command(session.string("session_id"), command)))
                .string("stdout");
    }

    private static List<String> fieldsOf(Api.Answer answer) {
        return answer.text().replaceAll(":\"[^\"]*\"", ":").lines().toList();
    }

    private static JsonFields ok(Api.Answer answer) {
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json();
    }
}
