package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.server.http.Route;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// Compares the OpenAPI document with the routes, in both directions, and real responses with its schemas.
class OpenApiTest {
    private static TestServer server;
    private static Api api;
    private static Schemas schemas;

    @BeforeAll
    static void start() {
        server = TestServer.start("--max-file-size-mb", "1");
        api = server.api();
        schemas = Schemas.of(api.with("none").get("/openapi.json").text());
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void documentedOperationsMatchTheRoutes() {
        Set<String> described = new TreeSet<>(schemas.operations());
        Set<String> routed = new TreeSet<>();
        server.routes().forEach(route -> methods(route).forEach(method -> routed.add(operation(method, route))));

        assertThat(described).isEqualTo(routed);
    }

    @Test
    void everyRouteHasADescriptionWithItsOwnId() {
        List<String> ids =
                server.routes().stream().map(route -> route.description().id()).toList();

        assertThat(ids).doesNotContain("").doesNotHaveDuplicates();
    }

    @Test
    void theTypesOfTheConsoleAreGeneratedFromThisDocument() throws Exception {
        byte[] document = api.with("none").get("/openapi.json").text().getBytes(StandardCharsets.UTF_8);
        String hash =
                HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(document));

        assertThat(Path.of("../console/src/api/schema.ts"))
                .as("run `npm run api-types` in console")
                .content()
                .startsWith("// Made from openapi.json with the SHA-256 " + hash);
    }

    @Test
    void referencesResolve() {
        assertThat(schemas.danglingReferences()).isEmpty();
    }

    @Test
    void responsesMatchTheirSchemas() {
        String thread = Api.thread();
        String request = "{\"user_id\":\"u\",\"thread_id\":\"" + thread + "\"}";
        var created = check("post /create_session", api.post("/create_session", request), 201);
        check("post /create_session", api.post("/create_session", request), 409);
        String id = created.json().string("session_id");
        check("get /get_session", api.get("/get_session?thread_id=" + thread), 200);
        check("get /get_session", api.get("/get_session?thread_id=none"), 404);
        check("post /execute", api.post("/execute", Api.command(id, "echo a")), 200);
        check("post /execute", api.post("/execute", Api.command(id, "sleep 1000", "\"timeout\":0.2")), 200);
        check("post /execute", api.post("/execute", Api.command("none", "true")), 404);
        check("post /execute", api.post("/execute", Api.command(id, "")), 400);
        check("post /upload_file", api.upload(id, "a", "b"), 200);
        check("post /upload_file", api.upload(id, "../a", "b"), 400);
        check("post /upload_file", api.upload(id, "a", "b".repeat(2_000_000)), 413);
        check("get /list_files", api.get("/list_files?session_id=" + id), 200);
        check("post /download_file", api.download(id, "none"), 404);
        check("post /cleanup", api.post("/cleanup", "{\"session_id\":\"" + id + "\"}"), 200);
        check("post /execute", api.post("/execute", Api.command(id, "true")), 404);
        check("get /health", api.get("/health"), 200);
        check("get /api/v1/node", api.get("/api/v1/node"), 200);
        check("get /api/v1/node", api.with("none").get("/api/v1/node"), 401);
        check("get /", api.get("/"), 200);
        check("get /openapi.json", api.get("/openapi.json"), 200);
        var issued = check("post /admin/keys", api.post("/admin/keys", "{\"user_id\":\"u\"}"), 201);
        check("get /admin/keys", api.get("/admin/keys"), 200);
        check("get /admin/keys", api.with("wrong").get("/admin/keys"), 401);
        check("get /admin/keys", api.with(issued.json().string("key")).get("/admin/keys"), 403);
        String path = "/admin/keys/" + issued.json().string("key_id");
        check("delete /admin/keys/{key_id}", api.method("DELETE", path), 200);
        check("delete /admin/keys/{key_id}", api.method("DELETE", path), 404);
    }

    @Test
    void threadResponsesMatchTheirSchemas() {
        String thread = "/threads/" + Api.thread();
        String template = "/threads/{thread_id}";
        var issued = check("post " + template + "/sandbox", api.post(thread + "/sandbox", "{}"), 200)
                .json();
        check("post " + template + "/sandbox", api.post(thread + "/sandbox", "{\"scopes\":[]}"), 400);
        check("get " + template + "/sandbox", api.get(thread + "/sandbox"), 200);
        check("post " + template + "/heartbeat", api.post(thread + "/heartbeat", "{}"), 200);
        String current = "{\"current_token\":\"" + issued.string("token") + "\"}";
        check("post " + template + "/sandbox/token", api.post(thread + "/sandbox/token", current), 200);
        check("post " + template + "/sandbox/refresh", api.post(thread + "/sandbox/refresh", current), 200);
        check("post " + template + "/sandbox/revoke", api.post(thread + "/sandbox/revoke", "{\"all\":true}"), 200);
        String invite = "{\"user_id\":\"guest\",\"scopes\":[\"fs:ro\"]}";
        check("post " + template + "/members", api.post(thread + "/members", invite), 200);
        check("get " + template + "/members", api.get(thread + "/members"), 200);
        check("delete " + template + "/members/{user_id}", api.method("DELETE", thread + "/members/guest"), 200);
        check("put " + template + "/egress", api.put(thread + "/egress", "{\"allow\":[\"example.com\"]}"), 200);
        check("put " + template + "/egress", api.put(thread + "/egress", "{\"allow\":[\"/\"]}"), 400);
        check("get " + template + "/egress", api.get(thread + "/egress"), 200);
        check("get " + template + "/audit", api.get(thread + "/audit"), 200);
        check("get /admin/audit", api.get("/admin/audit"), 200);
        check("get /threads", api.get("/threads"), 200);
        check("get /admin/sandboxes", api.get("/admin/sandboxes"), 200);
        String path = "/admin/sandboxes/" + issued.string("sandbox_id");
        check("post /admin/sandboxes/{sandbox_id}/rotate", api.method("POST", path + "/rotate"), 200);
        check("delete /admin/sandboxes/{sandbox_id}", api.method("DELETE", path), 200);
        check("delete " + template + "/sandbox", api.method("DELETE", thread + "/sandbox"), 404);
        check("delete " + template, api.method("DELETE", thread), 200);
    }

    @Test
    void dataPlaneResponsesMatchTheirSchemas() {
        String at = "/sandboxes/" + api.session();
        String exec = "post /sandboxes/{sandbox_id}/exec";
        String process = "/sandboxes/{sandbox_id}/processes/{process_id}";
        String file = "get /sandboxes/{sandbox_id}/files/{path}";
        check(exec, api.post(at + "/exec", "{\"command\":[\"echo\",\"a\"]}"), 200);
        check(exec, api.post(at + "/exec", "{\"command\":[]}"), 400);
        var started = check(exec, api.post(at + "/exec", "{\"command\":\"exit 3\",\"detach\":true}"), 201);
        String one = at + "/processes/" + started.json().string("process_id");
        assertThat(api.get(one + "/output").text().lines())
                .allSatisfy(line ->
                        assertThat(schemas.violations("ExecEvent", line)).isEmpty());
        check("get " + process, api.get(one), 200);
        check("get /sandboxes/{sandbox_id}/processes", api.get(at + "/processes"), 200);
        check("post " + process + "/signal", api.post(one + "/signal", "{\"name\":\"TERM\"}"), 409);
        check("delete " + process, api.method("DELETE", at + "/processes/none"), 404);
        check(file, api.get(at + "/files/"), 200);
        check(file, api.get(at + "/files/none"), 404);
        check(file, api.get(at + "/files/..%2fout"), 400);
        check("post /sandboxes/{sandbox_id}/pause", api.post(at + "/pause", "{}"), 200);
        check("post /sandboxes/{sandbox_id}/resume", api.post(at + "/resume", "{}"), 200);
    }

    @Test
    void viewResponsesMatchTheirSchemas() {
        String session = api.session();
        api.upload(session, "a", "text");
        String view = "/api/v1/sandboxes/{sandbox_id}";
        String at = "/api/v1/sandboxes/" + session;
        var created = await().until(
                        () -> api.get(at + "/events?type=file.created").json().objects("events"),
                        list -> !list.isEmpty());
        check("get " + view + "/files", api.get(at + "/files"), 200);
        check("get " + view + "/files/{path}", api.get(at + "/files/a"), 200);
        check(
                "get " + view + "/files/{path}",
                api.get(at + "/files/a?at_seq=" + created.getFirst().integer("seq")),
                200);
        check("get " + view + "/files/{path}", api.get(at + "/files/b"), 404);
        check("get " + view + "/diff", api.get(at + "/diff?path=a"), 200);
        check("get " + view + "/terminal", api.get(at + "/terminal"), 200);
        check("get " + view + "/events", api.get(at + "/events?newest=true"), 200);
        check("get /api/v1/sandboxes", api.get("/api/v1/sandboxes?ended=true"), 200);
        check("get /api/v1/reviews", api.get("/api/v1/reviews"), 200);
        check("get /console/session", api.get("/console/session"), 200);
    }

    @Test
    void eventsMatchTheirSchemas() throws Exception {
        try (var stream = api.stream(Api.command(api.session(), "echo a; echo b >&2"), "application/x-ndjson")) {
            String text = new String(stream.readAllBytes(), StandardCharsets.UTF_8);
            for (String line : text.split("\n")) {
                assertThat(schemas.violations("ExecEvent", line)).as(line).isEmpty();
            }
        }
    }

    /// OpenAPI cannot describe a route for all methods, so the document lists the common ones.
    private static List<String> methods(Route route) {
        return route.method().equals(Route.ANY)
                ? List.of("get", "post", "put", "patch", "delete")
                : List.of(route.method());
    }

    /// OpenAPI has no syntax for a parameter that matches the rest of the path.
    private static String operation(String method, Route route) {
        return method.toLowerCase(Locale.ROOT) + " " + route.template().replace("…}", "}");
    }

    private static Api.Answer check(String operation, Api.Answer answer, int status) {
        assertThat(answer.status()).as(operation).isEqualTo(status);
        String type = answer.headers().firstValue("Content-Type").orElseThrow();
        List<String> violations = schemas.violations(operation, status, type, answer.text());
        assertThat(violations)
                .as(operation + " " + status + " " + answer.text())
                .isEmpty();
        return answer;
    }
}
