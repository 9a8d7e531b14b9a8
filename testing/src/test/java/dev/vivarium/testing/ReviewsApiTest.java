package dev.vivarium.testing;

import static dev.vivarium.testing.AgentRun.send;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.concurrent.Executors;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class ReviewsApiTest {
    private static final String REVIEW_REQUEST =
            "{\"type\":\"review\",\"id\":\"r1\",\"reason\":\"merge_conflict\",\"description\":\"Which one?\","
                    + "\"context\":{\"options\":[{\"id\":\"ours\",\"description\":\"a\"},\"theirs\"]}}";

    /// Agent that requests a review and prints the answer.
    private static final String AGENT = "read task; echo '" + REVIEW_REQUEST + "'; read answer; echo \"got $answer\"";

    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with();

    private final Api api = SERVER.api();

    @Test
    void runPausesUntilAReviewIsAnswered() {
        var run = AgentRun.of(SERVER.get(), AGENT);
        run.awaitStatus("paused");
        var review = api.get(run.path() + "/reviews").json().objects("reviews").getFirst();
        String id = review.string("review_id");

        assertThat(run.sandbox().string("reason")).contains(id);
        assertThat(review.string("status")).isEqualTo("pending");
        assertThat(review.optionalStrings("options").orElseThrow()).containsExactly("ours", "theirs");
        assertThat(review.objects("choices"))
                .extracting(choice -> choice.string("label"))
                .containsExactly("a", "theirs");
        var answer = api.post(run.path() + "/reviews/" + id, "{\"decision\":\"ours\",\"comment\":\"it is newer\"}");
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.json().string("status")).isEqualTo("answered");
        assertThat(answer.json().string("decision_label")).isEqualTo("a");
        run.awaitStatus("completed");
        assertThat(run.events("agent.output")).contains("got ", "ours", "it is newer");
        assertThat(run.events("user.approve")).contains(id, "\"user_id\":\"admin\"");
        assertThat(count(run.events("agent.review_requested"), "\"agent.review_requested\""))
                .isEqualTo(1);
    }

    @Test
    void reviewAcceptsOneAnswer() {
        var run = AgentRun.of(SERVER.get(), AGENT);
        run.awaitStatus("paused");
        String path = run.path() + "/reviews/"
                + api.get(run.path() + "/reviews")
                        .json()
                        .objects("reviews")
                        .getFirst()
                        .string("review_id");

        var unknown = api.post(path, "{\"decision\":\"perhaps\"}");
        assertThat(unknown.status()).isEqualTo(422);
        assertThat(unknown.json().string("rule")).contains("reject", "ours", "theirs");
        assertThat(api.post(path, "{\"decision\":\"approve\"}").status()).isEqualTo(422);
        assertThat(api.post(path, "{\"decision\":\"reject\"}").json().string("status"))
                .isEqualTo("rejected");
        var second = api.post(path, "{\"decision\":\"ours\"}");
        assertThat(second.status()).isEqualTo(409);
        assertThat(second.json().string("detail")).contains("rejected");
        run.awaitEvent("user.reject");
        assertThat(api.post(run.path() + "/reviews/revaaaaaaaaaaaaaaaaaaaa", "{\"decision\":\"approve\"}")
                        .status())
                .isEqualTo(404);
        assertThat(api.post(run.path() + "/reviews/nonsense", "{\"decision\":\"approve\"}")
                        .status())
                .isEqualTo(404);
    }

    @Test
    void strangersAndTheAgentCannotAnswerAReview() {
        var run = AgentRun.of(SERVER.get(), AGENT);
        run.awaitStatus("paused");
        String path = run.path() + "/reviews/"
                + api.get(run.path() + "/reviews")
                        .json()
                        .objects("reviews")
                        .getFirst()
                        .string("review_id");

        assertThat(api.as("stranger").post(path, "{\"decision\":\"approve\"}").status())
                .isEqualTo(404);
        assertThat(run.worker().post(path, "{\"decision\":\"approve\"}").status())
                .isEqualTo(403);
        assertThat(run.sandbox().string("status")).isEqualTo("paused");
    }

    @Test
    void repeatedReviewRequestIsStoredOnceAndLongPollReturnsTheAnswer() throws Exception {
        var run = AgentRun.of(SERVER.get(), "exec sleep 1000");
        run.awaitEvent("agent.started");
        var worker = run.worker();
        String task = "/api/v1/sandbox/task/" + run.task() + "/review";
        String question = "{\"reason\":\"r\",\"description\":\"d\",\"blocking\":false}";
        String id = send(worker, "POST", task, question, "k").json().string("review_id");

        assertThat(send(worker, "POST", task, question, "k").json().string("review_id"))
                .isEqualTo(id);
        assertThat(run.sandbox().string("status")).isEqualTo("running");
        assertThat(worker.get(task + "/" + id).json().string("status")).isEqualTo("pending");
        try (var waiting = Executors.newVirtualThreadPerTaskExecutor()) {
            var answer = waiting.submit(
                    () -> worker.get(task + "/" + id + "?wait=60").json().string("status"));
            api.post(run.path() + "/reviews/" + id, "{\"decision\":\"approve\"}");
            assertThat(answer.get()).isEqualTo("approved");
        }
        assertThat(worker.get(task + "/nonsense").status()).isEqualTo(404);
        assertThat(worker.get(task + "/" + id + "?wait=61").status()).isEqualTo(400);
    }

    @Test
    void endOfRunCancelsItsReviews() {
        var run = AgentRun.of(SERVER.get(), AGENT);
        run.awaitStatus("paused");
        api.method("DELETE", run.path());
        run.awaitStatus("terminated");

        assertThat(api.get(run.path() + "/reviews")
                        .json()
                        .objects("reviews")
                        .getFirst()
                        .string("status"))
                .isEqualTo("cancelled");
    }

    @Test
    void pendingReviewSurvivesARestartAndExpires() {
        try (var server = TestServer.start()) {
            var run = AgentRun.of(server, AGENT);
            run.awaitStatus("paused");
            server.restart();
            assertThat(run.sandbox().string("status")).isEqualTo("paused");
            // Moves the deadline into the past.
            server.restart(store -> store.write(sql -> sql.update("update sandbox_reviews set deadline = 1")));

            run.awaitStatus("completed");
            assertThat(run.events("agent.output")).contains("expired");
            run.awaitEvent("sandbox.review_expired");
        }
    }

    @Test
    void answerAfterARestartReachesTheAgent() {
        try (var server = TestServer.start()) {
            var run = AgentRun.of(server, AGENT);
            run.awaitStatus("paused");
            server.restart();

            String id = server.api()
                    .get(run.path() + "/reviews")
                    .json()
                    .objects("reviews")
                    .getFirst()
                    .string("review_id");
            await().until(() -> server.api()
                            .post(run.path() + "/reviews/" + id, "{\"decision\":\"ours\"}")
                            .status()
                    == 200);
            run.awaitStatus("completed");
            assertThat(run.events("agent.output")).contains("answered");
        }
    }

    private static int count(String text, String part) {
        return text.split(Pattern.quote(part), -1).length - 1;
    }
}
