package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.http.HttpRequest.BodyPublishers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Pausing through the API, and traffic to a paused sandbox. Needs root.
@Tag("root")
class PauseApiTest {
    private TestServer server;
    private Api api;
    private String session;

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void pausedSandboxStopsAndReportsItsState() {
        open("on");
        String id = api.post(
                        path("exec"),
                        "{\"command\":\"while :; do date +%s%N > now; sleep 0.01; done\",\"detach\":true}")
                .json()
                .string("process_id");
        await().until(() -> read().status() == 200);

        assertThat(api.post(path("pause"), "{}").json().string("state")).isEqualTo("paused");
        assertThat(api.post(path("pause"), "{}").status()).isEqualTo(200);
        assertThat(state()).isEqualTo("paused");
        assertThat(api.get("/api/v1/sandboxes/" + session)
                        .json()
                        .object("sandbox")
                        .string("reason"))
                .isEqualTo("paused by request");
        assertThat(api.get(path("processes/" + id)).json().string("state")).isEqualTo("running");
        assertThat(state()).as("reading a process does not wake the sandbox").isEqualTo("paused");
        assertThat(api.post(path("resume"), "{}").json().string("state")).isEqualTo("running");
        String before = read().text();
        await().until(() -> !read().text().equals(before));
    }

    @Test
    void sessionOfAPausedSandboxIsPausedAndKeepsItsNumberOfFiles() {
        open("on");
        api.execute(session, "touch a b; mkdir d; touch d/c");
        assertThat(api.post(path("pause"), "{}").json().string("status")).isEqualTo("paused");

        var found = api.get("/get_session?thread_id=" + thread()).json();

        assertThat(found.string("status")).isEqualTo("paused");
        assertThat(found.string("state")).isEqualTo("paused");
        assertThat(found.integer("files_count")).isEqualTo(3);
        assertThat(state()).isEqualTo("paused");
    }

    @Test
    void trafficWakesAPausedSandbox() {
        open("on");
        for (Runnable call : new Runnable[] {
            () -> assertThat(api.execute(session, "echo up").string("stdout")).isEqualTo("up\n"),
            () -> assertThat(api.post(path("exec"), "{\"command\":\"true\"}").status())
                    .isEqualTo(200),
            () -> assertThat(Api.send(api.request(path("files/now")).PUT(BodyPublishers.ofString("x")))
                            .status())
                    .isIn(201, 204),
            () -> assertThat(read().status()).isEqualTo(200),
        }) {
            assertThat(api.post(path("pause"), "{}").status()).isEqualTo(200);
            call.run();
            assertThat(state()).isEqualTo("running");
        }
        await().untilAsserted(() -> assertThat(api.get("/api/v1/sandboxes/" + session + "/events?type=sandbox.resumed")
                        .json()
                        .objects("events"))
                .hasSize(4)
                .allSatisfy(event ->
                        assertThat(event.object("event_data").string("reason")).isEqualTo("traffic")));
    }

    @Test
    void openingAShellOrTypingWakesAPausedSandbox() {
        open("on");
        try (var shell = ShellClient.enter(server.uri(), session, server.adminKey(), "")) {
            api.post(path("pause"), "{}");
            shell.type("echo =$((6 * 7))\n").awaitScreen("=42");
            assertThat(state()).isEqualTo("running");
        }
        api.post(path("pause"), "{}");
        try (var shell = ShellClient.enter(server.uri(), session, server.adminKey(), "")) {
            shell.type("echo =$((6 * 7))\n").awaitScreen("=42");
        }
        api.post(path("pause"), "{}");
        assertThat(api.post(path("shells"), "{}").status()).isEqualTo(201);
    }

    @Test
    void shellOfAPausedSandboxIsRejectedWithoutWakeOnTraffic() {
        open("off");
        try (var shell = ShellClient.enter(server.uri(), session, server.adminKey(), "")) {
            api.post(path("pause"), "{}");
            shell.type("touch typed\n");
            assertThat(shell.await("error").string("code")).isEqualTo("sandbox-not-running");
        }
        try (var shell = ShellClient.connect(server.uri(), session)) {
            shell.auth(server.adminKey(), "");
            assertThat(shell.await("error").string("message")).contains("resume it first");
            assertThat(shell.awaitClose()).isEqualTo(4409);
        }
        assertThat(api.post(path("shells"), "{}").status()).isEqualTo(409);
        api.post(path("resume"), "{}");
        assertThat(api.get(path("files/typed")).status()).isEqualTo(404);
    }

    @Test
    void callToAPausedSandboxIsRejectedWithoutWakeOnTraffic() {
        open("off");
        api.post(path("pause"), "{}");

        var rejected = api.post(path("exec"), "{\"command\":\"true\"}");

        assertThat(rejected.status()).isEqualTo(409);
        assertThat(rejected.json().string("error")).contains("resume it first");
        assertThat(read().status()).isEqualTo(409);
        assertThat(state()).isEqualTo("paused");
        assertThat(api.post("/cleanup", "{\"session_id\":\"" + session + "\"}").status())
                .isEqualTo(200);
    }

    private void open(String wakeOnTraffic) {
        server = TestServer.startIsolated("--wake-on-traffic", wakeOnTraffic, "--memory-mb", "128", "--disk-mb", "64");
        api = server.api();
        session = api.session();
    }

    private String path(String rest) {
        return "/sandboxes/" + session + "/" + rest;
    }

    private String thread() {
        return server.sandboxes()
                .require(new dev.vivarium.model.SandboxId(session))
                .info()
                .thread()
                .value();
    }

    private Api.Answer read() {
        return api.get(path("files/now"));
    }

    private String state() {
        return server.sandboxes()
                .require(new dev.vivarium.model.SandboxId(session))
                .info()
                .status()
                .text();
    }
}
