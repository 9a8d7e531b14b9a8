package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.json.JsonFields;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/// State and capacity of the server and its host.
class NodeApiTest {
    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with(
            "--pool-size", "1", "--max-sandboxes", "7", "--worker-image", "no-such-image", "--openai-key", "k");

    private final Api api = SERVER.api();

    @Test
    void nodeCountsSandboxesAndStatesTheMaximum() {
        long before = node(api).object("sandboxes").integer("active");
        api.session();

        JsonFields node = node(api);
        assertThat(node.string("status")).isEqualTo("healthy");
        assertThat(node.object("sandboxes").integer("active")).isGreaterThan(before);
        assertThat(node.object("sandboxes").integer("most")).isEqualTo(7);
        assertThat(node.object("pool").integer("target")).isEqualTo(1);
    }

    @Test
    void nodeReportsFreeMemoryAndDisk() {
        JsonFields host = node(api).object("host");

        assertThat(host.integer("cpus")).isPositive();
        assertThat(host.integer("memory_bytes")).isGreaterThanOrEqualTo(host.integer("memory_free_bytes"));
        assertThat(host.integer("disk_bytes")).isGreaterThanOrEqualTo(host.integer("disk_free_bytes"));
        assertThat(host.integer("memory_free_bytes")).isPositive();
    }

    @Test
    void nodeReportsTheDefaultLimitsOfASandbox() {
        JsonFields limits = node(api).object("limits");
        JsonFields session = api.post("/create_session", "{\"user_id\":\"u\",\"thread_id\":\"" + Api.thread() + "\"}")
                .json();

        assertThat(session.object("limits").text()).isEqualTo(limits.text());
    }

    @Test
    void nodeReportsWhatAgentsNeed() {
        JsonFields agents = node(api).object("agents");

        assertThat(agents.string("worker_image")).isEqualTo("no-such-image");
        assertThat(agents.flag("has_worker_image")).isFalse();
        assertThat(agents.findStrings("models").orElseThrow()).containsExactly("openai");
    }

    @Test
    void nodeIsReadableWithAnyValidKey() {
        assertThat(node(api.as("some-user")).string("status")).isEqualTo("healthy");
        assertThat(api.with("none").get("/api/v1/node").status()).isEqualTo(401);
    }

    private static JsonFields node(Api api) {
        return api.get("/api/v1/node").json();
    }
}
