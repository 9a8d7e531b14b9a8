package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.WorkerGrant.Audience;
import dev.vivarium.json.JsonFields;
import java.util.List;
import java.util.Map;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class AuditApiTest {
    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with("--rate-limits", "off");

    private final Api admin = SERVER.api();
    private Api owner;
    private String name;
    private String thread;
    private String session;

    @BeforeEach
    void create() {
        name = "user-" + Api.thread();
        owner = admin.as(name);
        thread = Api.thread();
        session = owner.post("/create_session", "{\"user_id\":\"" + name + "\",\"thread_id\":\"" + thread + "\"}")
                .json()
                .string("session_id");
    }

    @Test
    void everyCallOfTheSessionRoutesIsRecorded() {
        owner.execute(session, "true");
        owner.upload(session, "a.txt", "text");
        owner.download(session, "a.txt");
        owner.get("/list_files?session_id=" + session);
        owner.get("/get_session?thread_id=" + thread);
        owner.post("/cleanup", "{\"session_id\":\"" + session + "\"}");

        assertThat(entries("user_id=" + name))
                .extracting(entry -> entry.string("route"), entry -> entry.integer("outcome"), this::target)
                .containsExactly(
                        Tuple.tuple("POST /create_session", 201L, session + " " + thread),
                        Tuple.tuple("POST /execute", 200L, session + " " + thread),
                        Tuple.tuple("POST /upload_file", 200L, session + " " + thread),
                        Tuple.tuple("POST /download_file", 200L, session + " " + thread),
                        Tuple.tuple("GET /list_files", 200L, session + " " + thread),
                        Tuple.tuple("GET /get_session", 200L, session + " " + thread),
                        Tuple.tuple("POST /cleanup", 200L, session + " " + thread));
    }

    @Test
    void ownerSeesTheAdminAndRefusedStrangersInTheAuditOfTheThread() {
        admin.execute(session, "true");
        String stranger = "stranger-" + thread;
        admin.as(stranger).post("/execute", Api.command(session, "true"));

        assertThat(owner.get("/threads/" + thread + "/audit").json().objects("entries"))
                .extracting(entry -> entry.string("kind"), entry -> entry.string("sub"), entry -> entry.string("route"))
                .contains(
                        Tuple.tuple("used", "admin", "POST /execute"),
                        Tuple.tuple("refused", stranger, "POST /execute"));
    }

    @Test
    void refusalsOfEveryRouteAreRecorded() {
        owner.get("/admin/keys");
        owner.post("/execute", "{}");
        owner.post("/admin/keys", "{\"user_id\":\"x\"}");
        new Api(SERVER.get().uri(), "not-a-key").post("/execute", Api.command(session, "true"));

        assertThat(entries("user_id=" + name))
                .extracting(
                        entry -> entry.string("kind"),
                        entry -> entry.integer("outcome"),
                        entry -> entry.string("route"))
                .contains(
                        Tuple.tuple("refused", 403L, "GET /admin/keys"),
                        Tuple.tuple("used", 400L, "POST /execute"),
                        Tuple.tuple("refused", 403L, "POST /admin/keys"));
        assertThat(entries("kind=refused"))
                .anySatisfy(entry -> assertThat(Map.of(
                                "sub", entry.optionalString("sub").orElse(""),
                                "route", entry.string("route"),
                                "outcome", entry.integer("outcome")))
                        .isEqualTo(Map.of("sub", "", "route", "POST /execute", "outcome", 401L)));
    }

    @Test
    void callsOfAWorkerAreRecordedAsTheWorker() {
        String box = admin.session();
        Api worker = admin.with(SERVER.get().workerToken(box, Audience.WORKER));
        worker.post("/api/v1/sandboxes/" + box + "/events", "{\"event_type\":\"agent.note\",\"event_data\":{}}");
        worker.get("/admin/keys");
        worker.post("/execute", Api.command(box, "true"));

        assertThat(entries("user_id=worker:" + box))
                .extracting(
                        entry -> entry.string("kind"),
                        entry -> entry.integer("outcome"),
                        entry -> entry.string("route"))
                .containsExactly(
                        Tuple.tuple("used", 201L, "POST /api/v1/sandboxes/{sandbox_id}/events"),
                        Tuple.tuple("refused", 403L, "GET /admin/keys"),
                        Tuple.tuple("refused", 403L, "POST /execute"));
    }

    @Test
    void readsAreFoldedWithACountAndChangesAreNot() {
        for (int i = 0; i < 20; i++) {
            owner.get("/list_files?session_id=" + session);
            owner.execute(session, "true");
        }

        var entries = entries("user_id=" + name);
        assertThat(entries)
                .filteredOn(entry -> entry.string("route").equals("POST /execute"))
                .hasSize(20)
                .allSatisfy(entry -> assertThat(entry.integer("count")).isOne());
        assertThat(entries)
                .filteredOn(entry -> entry.string("route").equals("GET /list_files"))
                .hasSizeBetween(1, 3)
                .satisfies(reads -> assertThat(reads.stream()
                                .mapToLong(entry -> entry.integer("count"))
                                .sum())
                        .isEqualTo(20));
    }

    @Test
    void useOfACapabilityTokenNamesTheToken() {
        String token = SERVER.get().token(session, Scope.FS_RO);
        owner.with(token).get("/sandboxes/" + session + "/files/");

        await().untilAsserted(() -> assertThat(entries("user_id=" + name))
                .filteredOn(entry -> entry.string("route").equals("GET /sandboxes/{sandbox_id}/files/{path…}"))
                .singleElement()
                .satisfies(entry -> assertThat(entry.optionalString("jti")).isPresent()));
    }

    private String target(JsonFields entry) {
        return entry.optionalString("aud").orElse("") + " "
                + entry.optionalString("thread_id").orElse("");
    }

    private List<JsonFields> entries(String query) {
        return admin.get("/admin/audit?limit=1000&" + query).json().objects("entries");
    }
}
