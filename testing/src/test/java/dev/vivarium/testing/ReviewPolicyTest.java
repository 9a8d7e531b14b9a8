package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/// Deadlines of reviews, with the real worker.
@Timeout(180)
class ReviewPolicyTest {
    private static final String QUESTION = """
            printf '{"type":"review","id":"r1","reason":"risk","description":"May I?"%s}\\n'; \
            read task; read answer; echo "got $answer\"""";

    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with("--pool-size", "0");

    private static AgentRun ask(String fields, String more) {
        return AgentRun.of(SERVER.get(), QUESTION.formatted(fields), more);
    }

    @Test
    void theServerApprovesAReviewAtItsDeadline() {
        var run = ask(",\"timeout_minutes\":0.02,\"on_timeout\":\"approve\"", "");

        run.awaitStatus("completed");
        assertThat(run.events("agent.output")).contains("approved");
        assertThat(SERVER.api().get("/admin/audit?limit=200").text()).contains("system:reviews");
    }

    @Test
    void theServerStopsTheRunAtTheDeadlineByThePolicyOfTheTask() {
        var run = ask("", "\"review_policy\":{\"timeout_minutes\":0.02,\"on_timeout\":\"fail\"}");

        run.awaitStatus("failed");
        assertThat(run.run().string("reason_code")).isEqualTo("review_expired");
        run.awaitEvent("sandbox.review_expired");
    }

    @Test
    void anEscalatedReviewRaisesAnAlertAndWaits() {
        var run = ask(",\"timeout_minutes\":0.02,\"on_timeout\":\"escalate\"", "");

        run.awaitEvent("review.escalated");
        await().until(() ->
                SERVER.api().get("/api/v1/alerts?severity=critical").text().contains("review.escalated"));
        var review = SERVER.api()
                .get(run.path() + "/reviews")
                .json()
                .objects("reviews")
                .getFirst();
        assertThat(review.string("status")).isEqualTo("pending");
        assertThat(review.has("escalated_at")).isTrue();
        SERVER.api().post(run.path() + "/reviews/" + review.string("review_id"), "{\"decision\":\"approve\"}");
        run.awaitStatus("completed");
    }

    @Test
    void invalidPoliciesAreRejected() {
        for (String policy : new String[] {
            "{\"timeout_minutes\":0}",
            "{\"timeout_minutes\":-1}",
            "{\"timeout_minutes\":1e9}",
            "{\"on_timeout\":\"never\"}",
            "{\"more\":1}",
            "5"
        }) {
            var answer = SERVER.api().post("/api/v1/tasks", "{\"title\":\"a task\",\"review_policy\":" + policy + "}");
            assertThat(answer.status()).as(policy + answer.text()).isEqualTo(422);
        }
        var task = SERVER.api()
                .post("/api/v1/tasks", "{\"title\":\"a task\",\"review_policy\":{\"on_timeout\":\"fail\"}}")
                .json();
        assertThat(task.object("review_policy").string("on_timeout")).isEqualTo("fail");
    }
}
