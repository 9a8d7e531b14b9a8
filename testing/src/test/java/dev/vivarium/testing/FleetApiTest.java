package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.JsonFields;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Lists of all sandboxes and all reviews, for a user with many sandboxes.
class FleetApiTest {
    private static final String SANDBOXES = "/api/v1/sandboxes";
    private static final String REQUESTS_REVIEW =
            "read task; echo '{\"type\":\"review\",\"id\":\"r1\",\"reason\":\"r\","
                    + "\"description\":\"May I?\"}'; read answer";

    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with("--metrics-every-seconds", "0.5");

    private final Api api = SERVER.api();

    @Test
    void listEntryDescribesTheSandboxAndItsRun() {
        var run = AgentRun.of(SERVER.get(), REQUESTS_REVIEW, "\"budget_usd\":3");
        run.awaitStatus("paused");
        await().until(() -> entry(api, "", run.id())
                .flatMap(found -> found.optionalObject("metrics"))
                .isPresent());
        JsonFields found = entry(api, "", run.id()).orElseThrow();

        assertThat(found.string("task_title")).isEqualTo("a task");
        assertThat(found.string("role")).isEqualTo("owner");
        assertThat(found.string("runtime")).isEqualTo("command");
        assertThat(found.string("expires_by")).isEqualTo("idle");
        assertThat(found.integer("pending_reviews")).isEqualTo(1);
        assertThat(found.object("metrics").integer("memory_bytes")).isNotNegative();
        assertThat(found.object("limits").optionalNumber("memory_mb")).isPresent();
        assertThat(found.object("run").optionalNumber("budget_usd")).hasValue(3);
        assertThat(found.object("run").integer("tool_calls")).isZero();
    }

    @Test
    void runsFilterExcludesSandboxesWithoutARun() {
        String plain = api.session();

        assertThat(entry(api, "", plain)).isPresent();
        assertThat(entry(api, "?runs=all", plain)).isPresent();
        assertThat(entry(api, "?runs=only", plain)).isEmpty();
    }

    @Test
    void endedSandboxesAreListedOnRequestForTheirOwner() {
        Api owner = api.as("owner-of-the-ended");
        String plain = session(owner, "owner-of-the-ended", Api.thread());
        var run = owner.post(SANDBOXES, AgentRun.body("sleep 1000", "")).json().string("sandbox_id");
        owner.post("/cleanup", "{\"session_id\":\"" + plain + "\"}");
        owner.method("DELETE", SANDBOXES + "/" + run);

        assertThat(entry(owner, "", plain)).isEmpty();
        assertThat(entry(owner, "?ended=true", plain)
                        .orElseThrow()
                        .object("end")
                        .string("cause"))
                .isEqualTo("user");
        assertThat(entry(owner, "?ended=true&runs=only", plain)).isEmpty();
        assertThat(entry(owner, "?ended=true&runs=only", run).orElseThrow().string("task_title"))
                .isEqualTo("a task");
        assertThat(entry(api.as("stranger"), "?ended=true", plain)).isEmpty();
        assertThat(entry(api, "?ended=true", plain)).isPresent();
    }

    @Test
    void memberSeesTheSandboxAndWithShellScopeItsRun() {
        Api owner = api.as("host-of-the-fleet");
        String thread = Api.thread();
        String id = owner.post(SANDBOXES, AgentRun.body(REQUESTS_REVIEW, "\"thread_id\":\"" + thread + "\""))
                .json()
                .string("sandbox_id");
        await().until(() -> reviews(owner, "?status=pending").contains(id));
        Api watcher = invited(owner, thread, "watcher", "shell:ro");
        Api reader = invited(owner, thread, "reader", "fs:ro");

        assertThat(entry(watcher, "", id).orElseThrow().string("role")).isEqualTo("member");
        assertThat(entry(watcher, "", id).orElseThrow().string("task_title")).isEqualTo("a task");
        JsonFields bare = entry(reader, "", id).orElseThrow();
        assertThat(bare.string("role")).isEqualTo("member");
        assertThat(bare.text()).doesNotContain("task_title", "\"run\"", "pending_reviews", "metrics");
        assertThat(entry(api.as("stranger"), "", id)).isEmpty();
        assertThat(reviews(watcher, "?status=pending")).contains(id, "\"may_answer\":false");
        assertThat(reviews(reader, "?status=pending")).doesNotContain(id);
    }

    @Test
    void pagesStayConsistentWhenSandboxesAreAdded() {
        Api owner = api.as("owner-of-many");
        List<String> made = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            made.add(session(owner, "owner-of-many", Api.thread()));
        }
        JsonFields page = owner.get(SANDBOXES + "?limit=2").json();
        List<String> seen = new ArrayList<>(ids(page));
        session(owner, "owner-of-many", Api.thread());
        while (page.optionalString("next_cursor").isPresent()) {
            page = owner.get(SANDBOXES + "?limit=2&cursor=" + page.string("next_cursor"))
                    .json();
            seen.addAll(ids(page));
        }

        assertThat(seen).containsExactlyElementsOf(made.reversed());
    }

    @ParameterizedTest
    @ValueSource(strings = {"?cursor=x", "?cursor=-", "?runs=none", "?ended=1", "?limit=0", "?status=lost", "?x=1"})
    void invalidQueryIsRejected(String query) {
        assertThat(api.get(SANDBOXES + query).status()).isEqualTo(400);
    }

    @Test
    void reviewListShowsPendingReviewsOfAllSandboxes() {
        var run = AgentRun.of(SERVER.get(), REQUESTS_REVIEW);
        run.awaitStatus("paused");
        JsonFields review = api.get("/api/v1/reviews?status=pending").json().objects("reviews").stream()
                .filter(candidate -> candidate.string("sandbox_id").equals(run.id()))
                .findFirst()
                .orElseThrow();

        assertThat(review.string("task_title")).isEqualTo("a task");
        assertThat(review.string("thread_id")).isEqualTo(run.answer().string("thread_id"));
        assertThat(review.flag("may_answer")).isTrue();
        api.post(run.path() + "/reviews/" + review.string("review_id"), "{\"decision\":\"approve\"}");
        assertThat(reviews(api, "?status=pending")).doesNotContain(run.id());
        assertThat(reviews(api, "?status=approved")).contains(run.id(), "\"may_answer\":false");
        assertThat(reviews(api, "")).contains(run.id());
        assertThat(reviews(api.as("stranger"), "")).doesNotContain(run.id());
        assertThat(api.get("/api/v1/reviews?status=open").status()).isEqualTo(400);
        assertThat(api.with("none").get("/api/v1/reviews").status()).isEqualTo(401);
    }

    private static String session(Api owner, String user, String thread) {
        return owner.post("/create_session", "{\"user_id\":\"" + user + "\",\"thread_id\":\"" + thread + "\"}")
                .json()
                .string("session_id");
    }

    private Api invited(Api owner, String thread, String user, String scope) {
        owner.invite(thread, user, scope);
        return api.as(user);
    }

    private static Optional<JsonFields> entry(Api caller, String query, String id) {
        var answer = caller.get(SANDBOXES + query + (query.isEmpty() ? "?" : "&") + "limit=1000");
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json().objects("sandboxes").stream()
                .filter(found -> found.string("sandbox_id").equals(id))
                .findFirst();
    }

    private static List<String> ids(JsonFields page) {
        return page.objects("sandboxes").stream()
                .map(found -> found.string("sandbox_id"))
                .toList();
    }

    private static String reviews(Api caller, String query) {
        return caller.get("/api/v1/reviews" + query).text();
    }
}
