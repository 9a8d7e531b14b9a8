package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.model.SandboxId;
import dev.vivarium.testing.Api.Answer;
import java.util.Map;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;

class EndAuditTest {
    private static final Map<String, BiFunction<Api, String, Answer>> ENDS = Map.of(
            "POST /cleanup",
            (api, sandbox) -> api.post("/cleanup", "{\"session_id\":\"" + sandbox + "\"}"),
            "DELETE /api/v1/sandboxes/{sandbox_id}",
            (api, sandbox) -> api.method("DELETE", "/api/v1/sandboxes/" + sandbox),
            "DELETE /admin/sandboxes/{sandbox_id}",
            (api, sandbox) -> api.method("DELETE", "/admin/sandboxes/" + sandbox));

    @Test
    void everyRouteThatEndsASandboxWritesAnAuditEntry() {
        try (var server = TestServer.start()) {
            ENDS.forEach((route, end) -> {
                String sandbox = server.api().session();
                assertThat(end.apply(server.api(), sandbox).status()).isEqualTo(200);
                assertEnd(server.api(), sandbox, route);
            });
            for (String route : new String[] {"DELETE /threads/{thread_id}/sandbox", "DELETE /threads/{thread_id}"}) {
                String sandbox = server.api().session();
                var thread = server.sandboxes()
                        .require(new SandboxId(sandbox))
                        .info()
                        .thread();
                String path = route.substring("DELETE ".length()).replace("{thread_id}", thread.value());
                assertThat(server.api().method("DELETE", path).status()).isEqualTo(200);
                assertEnd(server.api(), sandbox, route);
            }
        }
    }

    private static void assertEnd(Api api, String sandbox, String route) {
        await().untilAsserted(() -> assertThat(api.get("/admin/audit?kind=ended&sandbox_id=" + sandbox)
                        .json()
                        .objects("entries"))
                .singleElement()
                .satisfies(entry -> assertThat(entry.string("route")).isEqualTo(route)));
    }
}
