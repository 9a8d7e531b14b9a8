package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.http.HttpClient;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Events withhold content that the scopes of their reader do not cover.
@Timeout(120)
class EventScopesTest {
    private static final String SECRET = "top-secret-4711";
    private static final String FILE_TYPE = "file.created";

    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with();

    private final Api admin = SERVER.api();
    private final String thread = Api.thread();
    private Api owner = admin;
    private String sandbox = "";

    @BeforeEach
    void open() {
        owner = admin.as("owner");
        sandbox = owner.post("/create_session", "{\"user_id\":\"owner\",\"thread_id\":\"" + thread + "\"}")
                .json()
                .string("session_id");
        write("before.txt");
        await().until(() -> owner.get(events()).text().contains("before.txt"));
    }

    private enum Route {
        PAGE,
        STREAM,
        DETAILS,
        SOCKET,
        FEED_SOCKET
    }

    @ParameterizedTest
    @EnumSource(Route.class)
    void fileContentIsWithheldWithoutTheFileScope(Route route) throws Exception {
        JsonFields event = read(route, token("shell:ro"));

        assertThat(event.text()).contains(".txt").doesNotContain(SECRET).doesNotContain("sha256\":");
        assertThat(event.findStrings("withheld").orElseThrow()).containsExactly("sha256", "diff");
        assertThat(event.string("needs")).isEqualTo("fs:ro");
    }

    @ParameterizedTest
    @EnumSource(Route.class)
    void eventIsCompleteWithTheFileScope(Route route) throws Exception {
        JsonFields event = read(route, token("shell:ro\",\"fs:ro"));

        assertThat(event.text()).contains(SECRET).doesNotContain("withheld");
    }

    @ParameterizedTest
    @EnumSource(Route.class)
    void ownerReceivesCompleteEvents(Route route) throws Exception {
        assertThat(read(route, owner).text()).contains(SECRET).doesNotContain("withheld");
    }

    @ParameterizedTest
    @EnumSource(Route.class)
    void invitationLimitsTheContentOfEvents(Route route) throws Exception {
        invite("shell:ro");
        Api guest = admin.as("guest");
        assertThat(read(route, guest).text()).doesNotContain(SECRET).contains("withheld");

        invite("shell:ro\",\"fs:ro");
        assertThat(read(route, guest).text()).contains(SECRET);
    }

    @Test
    void reducedInvitationWithholdsContentOnAnOpenSocket() {
        invite("shell:ro\",\"fs:ro");
        try (var socket =
                ShellClient.open(SERVER.get().uri(), "/ws/sandboxes/" + sandbox, ShellClient.Reading.ALWAYS)) {
            socket.auth(admin.as("guest").key(), "").await("connected");
            assertThat(awaitFile(socket).text()).contains(SECRET);
            invite("shell:ro");
            // The server publishes the change of the invitation while the response is under way.
            await().untilAsserted(() -> {
                write(Api.thread() + ".txt");
                assertThat(awaitFile(socket).text()).doesNotContain(SECRET);
            });
        }
    }

    @Test
    void toolInputAndResultNeedTheFileScope() {
        append("agent.tool_use", "{\"tool_use_id\":\"1\",\"tool_name\":\"Write\",\"tool_input\":{\"content\":\"%s\"}}");
        append("agent.tool_result", "{\"tool_use_id\":\"1\",\"tool_name\":\"Read\",\"content\":\"%s\"}");
        String all = token("shell:ro").get(events() + "?type=agent.").text();

        assertThat(all).doesNotContain(SECRET).contains("\"withheld\":[\"tool_input\"]", "\"withheld\":[\"content\"]");
        assertThat(owner.get(events() + "?type=agent.").text()).contains(SECRET);
    }

    @Test
    void restrictedReaderReceivesEverySequenceNumberAndCommandOutput() {
        owner.execute(sandbox, "echo printed-4712");
        await().until(() -> owner.get(events()).text().contains("command.completed"));
        List<JsonFields> seen =
                token("shell:ro").get(events() + "?limit=1000").json().objects("events");

        assertThat(seen).extracting(event -> event.integer("seq")).startsWith(1L, 2L);
        assertThat(seen.getLast().integer("seq")).isEqualTo(seen.size());
        assertThat(seen).anySatisfy(event -> assertThat(event.text()).contains("printed-4712"));
    }

    private JsonFields read(Route route, Api reader) throws Exception {
        return switch (route) {
            case PAGE -> file(reader.get(events()).json().objects("events"));
            case STREAM -> stream(reader);
            case DETAILS ->
                file(reader.get("/api/v1/sandboxes/" + sandbox).json().objects("recent_events"));
            case SOCKET -> socket(reader, "/ws/sandboxes/" + sandbox);
            case FEED_SOCKET -> socket(reader, "/api/v1/ws/events");
        };
    }

    private static JsonFields file(List<JsonFields> events) {
        return events.stream()
                .filter(event -> event.string("event_type").equals(FILE_TYPE))
                .findFirst()
                .orElseThrow();
    }

    private JsonFields stream(Api reader) throws Exception {
        var request = reader.request(events())
                .header("Accept", "application/x-ndjson")
                .build();
        try (var client = HttpClient.newHttpClient()) {
            var answer = client.send(request, BodyHandlers.ofInputStream());
            try (var lines = new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8))) {
                for (String line = lines.readLine(); ; line = lines.readLine()) {
                    if (line.contains(FILE_TYPE)) {
                        return Json.answer(line);
                    }
                }
            } finally {
                client.shutdownNow();
            }
        }
    }

    private JsonFields socket(Api reader, String path) {
        try (var socket = ShellClient.open(SERVER.get().uri(), path, ShellClient.Reading.ALWAYS)) {
            socket.auth(reader.key(), "").await("connected");
            write(Api.thread() + ".txt");
            return awaitFile(socket);
        }
    }

    private static JsonFields awaitFile(ShellClient socket) {
        JsonFields event = socket.await("event");
        while (!event.string("event_type").equals(FILE_TYPE)) {
            event = socket.await("event");
        }
        return event;
    }

    private void write(String name) {
        assertThat(owner.upload(sandbox, name, SECRET).status()).isEqualTo(200);
    }

    private void append(String type, String data) {
        String event = "{\"event_type\":\"" + type + "\",\"event_data\":" + data.formatted(SECRET) + "}";
        assertThat(owner.post(events(), event).status()).isEqualTo(201);
    }

    private void invite(String scopes) {
        owner.post("/threads/" + thread + "/members", "{\"user_id\":\"guest\",\"scopes\":[\"" + scopes + "\"]}");
    }

    private Api token(String scopes) {
        return admin.with(owner.post("/threads/" + thread + "/sandbox", "{\"scopes\":[\"" + scopes + "\"]}")
                .json()
                .string("token"));
    }

    private String events() {
        return "/api/v1/sandboxes/" + sandbox + "/events";
    }
}
