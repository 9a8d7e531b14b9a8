package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.json.JsonFields;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Quotas per user at a real server.
class QuotasTest {
    @Test
    void oneUserCannotTakeAllPlaces() throws InterruptedException {
        try (var server = TestServer.start("--max-sandboxes", "5")) {
            List<Integer> statuses = inParallel(IntStream.range(0, 12)
                    .<Callable<Integer>>mapToObj(
                            _ -> () -> create(server, "greedy").status())
                    .toList());

            assertThat(statuses).filteredOn(status -> status == 201).hasSize(4);
            assertThat(statuses).filteredOn(status -> status == 429).hasSize(8);
            assertThat(create(server, "greedy").text())
                    .contains("quota-exceeded", "greedy has 4 sandboxes", "end one first");
            assertThat(create(server, "other").status()).isEqualTo(201);
        }
    }

    @Test
    void endedSandboxesLeaveTheQuotaAndARestartKeepsIt() {
        try (var server = TestServer.start("--max-sandboxes-per-user", "2")) {
            create(server, "ann");
            String second = create(server, "ann").json().string("session_id");
            assertThat(create(server, "ann").status()).isEqualTo(429);

            server.restart();
            assertThat(create(server, "ann").status()).isEqualTo(429);
            server.api().post("/cleanup", "{\"session_id\":\"" + second + "\"}");
            assertThat(create(server, "ann").status()).isEqualTo(201);
        }
    }

    @Test
    void diskOfAUserIsLimited() {
        try (var server = TestServer.start("--disk-mb", "100", "--max-disk-mb-per-user", "250")) {
            create(server, "ann");
            create(server, "ann");
            var refused = create(server, "ann");

            assertThat(refused.status()).isEqualTo(429);
            assertThat(refused.text()).contains("quota-exceeded", "take 200 MiB of the 250 MiB");
        }
    }

    @Test
    @Tag("root")
    void snapshotsOfAUserAreLimited() {
        try (var server = TestServer.startIsolated("--disk-mb", "64", "--max-snapshots-per-user", "1")) {
            var ann = server.api().as("ann");
            for (String thread : List.of("one", "two")) {
                ann.post("/create_session", "{\"thread_id\":\"" + thread + "\"}");
            }
            assertThat(ann.post("/threads/one/snapshots", "{}").status()).isEqualTo(201);
            var refused = ann.post("/threads/two/snapshots", "{}");

            assertThat(refused.status()).as(refused.text()).isEqualTo(429);
            assertThat(refused.text()).contains("quota-exceeded", "ann has 1 snapshots");
        }
    }

    @Test
    void activeRunsOfAUserAreLimited() {
        try (var server = TestServer.start("--max-runs-per-user", "1")) {
            var ann = server.api().as("ann");
            String body = AgentRun.body("exec sleep 600", "");
            assertThat(ann.post(AgentRun.SANDBOXES, body).status()).isEqualTo(201);
            var refused = ann.post(AgentRun.SANDBOXES, body);

            assertThat(refused.status()).as(refused.text()).isEqualTo(429);
            assertThat(refused.text()).contains("quota-exceeded", "ann has 1 active runs");
            assertThat(ann.get("/api/v1/quotas").text()).contains("\"sandboxes\":1");
        }
    }

    @Test
    void adminReadsTheUsageOfAllUsersAndAUserTheirOwn() {
        try (var server = TestServer.start("--disk-mb", "100", "--max-sandboxes-per-user", "3")) {
            create(server, "ann");
            create(server, "bob");
            JsonFields all = server.api().get("/api/v1/quotas").json();

            assertThat(all.object("limits").integer("sandboxes")).isEqualTo(3);
            assertThat(all.objects("users"))
                    .extracting(user -> user.string("user_id"))
                    .containsExactly("ann", "bob");
            assertThat(all.objects("users").getFirst().integer("disk_bytes")).isEqualTo(100L << 20);
            assertThat(server.api().as("ann").get("/api/v1/quotas").text())
                    .contains("ann")
                    .doesNotContain("bob");
        }
    }

    private static Api.Answer create(TestServer server, String user) {
        return server.api()
                .post("/create_session", "{\"user_id\":\"" + user + "\",\"thread_id\":\"" + Api.thread() + "\"}");
    }

    private static <T> List<T> inParallel(List<Callable<T>> calls) throws InterruptedException {
        try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
            return callers.invokeAll(calls).stream().map(Future::resultNow).toList();
        }
    }
}
