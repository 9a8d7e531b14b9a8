package dev.vivarium.scripted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Both dialects over real HTTP: complete and streamed responses are equal, and faults occur as scripted.
class ScriptedModelTest {
    private static final String MESSAGES = "/v1/messages";
    private static final String COMPLETIONS = "/v1/chat/completions";
    private static final String RICH = """
            {"steps": [{"thinking": "Let me think about this for a while.", "text": "Grüße 👋 aus dem Skript, in Stücken.",
              "tools": [{"name": "Bash", "input": {"command": "echo \\"hi\\" > a.txt", "list": [1, 2.5, null, true]}},
                        {"name": "Read", "input": {"path": "a.txt"}}],
              "usage": {"input_tokens": 1000, "output_tokens": 50, "cache_read_tokens": 7}}]}
            """;

    private final HttpClient http = HttpClient.newHttpClient();
    private ScriptedModel model;

    private void start(String script) {
        model = ScriptedModel.start(Script.parse(script), 0);
    }

    @AfterEach
    void stop() {
        model.close();
        http.close();
    }

    private HttpResponse<String> send(String path, String body) {
        try {
            return http.send(request(path, body), HttpResponse.BodyHandlers.ofString());
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private HttpRequest request(String path, String body) {
        return HttpRequest.newBuilder(URI.create(model.uri() + path))
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .timeout(Duration.ofSeconds(120))
                .build();
    }

    private static String requestBody(boolean streamed, String messages) {
        return """
                {"model": "m", "stream": %s, "messages": [%s], "tools": [
                  {"name": "Bash", "function": {"name": "Bash"}}, {"name": "Read", "function": {"name": "Read"}}]}
                """.formatted(streamed, messages);
    }

    private static String message(String role, String text) {
        return "{\"role\": \"%s\", \"content\": \"%s\"}".formatted(role, text);
    }

    private static List<Node> events(String stream) {
        return Stream.of(stream.split("\n"))
                .filter(line -> line.startsWith("data: {"))
                .map(line -> Node.parse(line.substring("data: ".length())))
                .toList();
    }

    private static String joined(List<Node> deltas, String field) {
        return deltas.stream().map(delta -> delta.get(field).text()).reduce("", String::concat);
    }

    @Test
    void streamedMessageEqualsTheCompleteOne() {
        start(RICH.replace("{\"thinking\"", "{\"times\": 2, \"thinking\""));
        Node complete = Node.parse(
                send(MESSAGES, requestBody(false, message("user", "go"))).body());
        HttpResponse<String> stream = send(MESSAGES, requestBody(true, message("user", "go")));
        List<Node> events = events(stream.body());
        List<Node> deltas = events.stream().map(event -> event.get("delta")).toList();
        List<Node> blocks = complete.get("content").items();
        assertThat(stream.headers().firstValue("content-type")).contains("text/event-stream");
        assertThat(joined(deltas, "thinking"))
                .isEqualTo(blocks.get(0).get("thinking").text());
        assertThat(joined(deltas, "text")).isEqualTo(blocks.get(1).get("text").text());
        assertThat(joined(deltas, "partial_json"))
                .isEqualTo(blocks.get(2).get("input").json()
                        + blocks.get(3).get("input").json());
        assertThat(events.getFirst().get("type").text()).isEqualTo("message_start");
        assertThat(events.getLast().get("type").text()).isEqualTo("message_stop");
        Node end = events.get(events.size() - 2);
        assertThat(end.get("delta").get("stop_reason").text()).isEqualTo("tool_use");
        assertThat(end.get("usage").json()).isEqualTo(complete.get("usage").json());
        assertThat(complete.get("usage").get("cache_read_input_tokens").integer())
                .contains(7L);
    }

    @Test
    void streamedCompletionEqualsTheCompleteOne() {
        start(RICH.replace("{\"thinking\"", "{\"times\": 2, \"thinking\""));
        Node complete = Node.parse(
                send(COMPLETIONS, requestBody(false, message("user", "go"))).body());
        String stream =
                send(COMPLETIONS, requestBody(true, message("user", "go"))).body();
        Node message = complete.get("choices").items().getFirst().get("message");
        List<Node> events = events(stream);
        List<Node> deltas = events.stream()
                .flatMap(event -> event.get("choices").items().stream())
                .map(choice -> choice.get("delta"))
                .toList();
        List<Node> calls = deltas.stream()
                .flatMap(delta -> delta.get("tool_calls").items().stream())
                .map(call -> call.get("function"))
                .toList();
        assertThat(joined(deltas, "content")).isEqualTo(message.get("content").text());
        assertThat(joined(deltas, "reasoning_content"))
                .isEqualTo(message.get("reasoning_content").text());
        assertThat(joined(calls, "name")).isEqualTo("BashRead");
        assertThat(joined(calls, "arguments"))
                .isEqualTo(message.get("tool_calls").items().stream()
                        .map(call -> call.get("function").get("arguments").text())
                        .reduce("", String::concat));
        assertThat(events.getLast().get("usage").json())
                .isEqualTo(complete.get("usage").json())
                .contains("\"total_tokens\":1050");
        assertThat(stream).endsWith("data: [DONE]\n\n");
    }

    @Test
    void idsAreUnique() {
        start(RICH.replace("{\"thinking\"", "{\"times\": 0, \"thinking\""));
        List<String> ids = Stream.of(1, 2, 3)
                .map(i -> Node.parse(send(MESSAGES, requestBody(false, message("user", "go")))
                        .body()))
                .flatMap(answer -> answer.get("content").items().stream())
                .map(block -> block.get("id").text())
                .filter(id -> !id.isEmpty())
                .toList();
        assertThat(ids).hasSize(6).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @ValueSource(strings = {MESSAGES, COMPLETIONS})
    void onlyMessagesAfterTheLastResponseAreMatched(String path) {
        start("""
                {"steps": [{"name": "old", "when": {"contains": "first"}, "text": "old"},
                           {"name": "new", "when": {"contains": "second"}, "text": "new"}]}
                """);
        String messages =
                message("user", "first") + "," + message("assistant", "well") + "," + message("user", "second");
        assertThat(send(path, requestBody(false, messages)).body()).contains("new");
        assertThat(model.asked()).extracting(ScriptedModel.Asked::step).containsExactly("new");
        assertThat(model.asked().getFirst().news()).isEqualTo("second");
    }

    @Test
    void toolResultIsMatched() {
        start("{\"steps\": [{\"times\": 2, \"when\": {\"contains\": \"42 files\"}, \"text\": \"counted\"}]}");
        String result = """
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t",
                  "content": [{"type": "text", "text": "42 files"}]}]}
                """;
        assertThat(send(MESSAGES, requestBody(false, message("assistant", "x") + "," + result))
                        .body())
                .contains("counted");
        assertThat(send(COMPLETIONS, requestBody(false, message("assistant", "x") + "," + message("tool", "42 files")))
                        .body())
                .contains("counted");
    }

    @Test
    void stepRunsItsNumberOfTimesThenTheFallback() {
        start("{\"steps\": [{\"times\": 2, \"text\": \"again\"}], \"otherwise\": {\"text\": \"enough\"}}");
        List<String> answers = Stream.of(1, 2, 3)
                .map(i -> send(MESSAGES, requestBody(false, message("user", "go")))
                        .body())
                .map(body -> Node.parse(body)
                        .get("content")
                        .items()
                        .getFirst()
                        .get("text")
                        .text())
                .toList();
        assertThat(answers).containsExactly("again", "again", "enough");
    }

    @Test
    void errorHasTheFormatOfItsDialect() {
        start("{\"steps\": [{\"times\": 0, \"fault\": {\"kind\": \"status\", \"status\": 529, \"retry_after\": 3}}]}");
        HttpResponse<String> overloaded = send(MESSAGES, requestBody(true, message("user", "go")));
        assertThat(overloaded.statusCode()).isEqualTo(529);
        assertThat(overloaded.headers().firstValue("retry-after")).contains("3");
        assertThat(overloaded.body()).contains("overloaded_error");
        assertThat(send(COMPLETIONS, requestBody(true, message("user", "go"))).body())
                .contains("\"code\":529");
    }

    @Test
    void garbageFaultReturnsNoJson() {
        start("{\"steps\": [{\"fault\": {\"kind\": \"garbage\"}}]}");
        assertThat(send(MESSAGES, requestBody(false, message("user", "go"))).body())
                .startsWith("<html>");
    }

    @Test
    void cutStreamHasNoEnd() {
        start(
                "{\"steps\": [{\"text\": \"a text of several pieces, as long as that\", \"fault\": {\"kind\": \"cut\"}}]}");
        assertThat(send(MESSAGES, requestBody(true, message("user", "go"))).body())
                .contains("message_start")
                .doesNotContain("message_stop");
    }

    @ParameterizedTest
    @ValueSource(strings = {"hang", "close"})
    void hangAndCloseFaultsSendNoResponse(String kind) {
        start("{\"steps\": [{\"times\": 0, \"fault\": {\"kind\": \"%s\"}}]}".formatted(kind));
        HttpRequest request = HttpRequest.newBuilder(
                        request(MESSAGES, requestBody(false, message("user", "go"))), (n, v) -> true)
                .timeout(kind.equals("hang") ? Duration.ofMillis(300) : Duration.ofMinutes(2))
                .build();
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> http.send(request, HttpResponse.BodyHandlers.ofString()))
                .satisfies(e -> assertThat(e instanceof HttpTimeoutException).isEqualTo(kind.equals("hang")));
    }

    @Test
    void malformedRequestIsRejected() {
        start("{}");
        HttpResponse<String> refused = send(MESSAGES, "{\"messages\":");
        assertThat(refused.statusCode()).isEqualTo(400);
        assertThat(refused.body()).contains("invalid_request_error").contains("is not JSON");
    }

    @Test
    void otherRoutesOfAgentsAreServed() throws Exception {
        start("{}");
        assertThat(Node.parse(send("/v1/messages/count_tokens", requestBody(false, ""))
                                .body())
                        .get("input_tokens")
                        .integer())
                .isPresent();
        HttpRequest head = HttpRequest.newBuilder(URI.create(model.uri() + "/api/hello"))
                .HEAD()
                .build();
        assertThat(http.send(head, HttpResponse.BodyHandlers.discarding()).statusCode())
                .isEqualTo(200);
        assertThat(send("/v1/nothing", "{}").statusCode()).isEqualTo(404);
    }

    @Test
    void scriptCanBeReplaced() throws Exception {
        start("{\"steps\": [{\"times\": 0, \"text\": \"first\"}]}");
        send(MESSAGES, requestBody(false, message("user", "go")));
        assertThat(put("{\"steps\": [{\"text\": \"second\"}]}").statusCode()).isEqualTo(204);
        assertThat(model.asked()).isEmpty();
        assertThat(send(MESSAGES, requestBody(false, message("user", "go"))).body())
                .contains("second");
        HttpResponse<String> refused = put("{\"steps\": 1, \"x\": 2}");
        assertThat(refused.statusCode()).isEqualTo(400);
        assertThat(refused.body()).contains("no field 'x'");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void responseIsHeldUntilReleased(boolean streamed) throws Exception {
        start("{\"steps\": [{\"held\": true, \"text\": \"at last\"}]}");
        CompletableFuture<HttpResponse<String>> answer = http.sendAsync(
                request(MESSAGES, requestBody(streamed, message("user", "go"))), HttpResponse.BodyHandlers.ofString());
        await().until(() -> !model.asked().isEmpty());
        assertThat(answer).isNotDone();
        assertThat(send("/scripted/release", "").statusCode()).isEqualTo(204);
        assertThat(answer.get().body()).contains("at last");
    }

    @Test
    void replacingTheScriptReleasesHeldResponses() throws Exception {
        start("{\"steps\": [{\"held\": true, \"text\": \"old\"}]}");
        CompletableFuture<HttpResponse<String>> answer = http.sendAsync(
                request(MESSAGES, requestBody(false, message("user", "go"))), HttpResponse.BodyHandlers.ofString());
        await().until(() -> !model.asked().isEmpty());
        put("{\"steps\": [{\"text\": \"new\"}]}");
        assertThat(answer.get().body()).contains("old");
    }

    private HttpResponse<String> put(String script) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(model.uri() + "/scripted/script"))
                .PUT(HttpRequest.BodyPublishers.ofString(script))
                .build();
        return http.send(request, HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void receivedRequestsAreListedOverHttp() throws Exception {
        start("{\"steps\": [{\"name\": \"greet\", \"text\": \"hi\"}]}");
        send(MESSAGES, requestBody(false, message("user", "hello")));
        HttpRequest request = HttpRequest.newBuilder(URI.create(model.uri() + "/scripted/asked"))
                .build();
        Node journal = Node.parse(
                http.send(request, HttpResponse.BodyHandlers.ofString()).body());
        Node first = journal.get("asked").items().getFirst();
        assertThat(first.get("step").text()).isEqualTo("greet");
        assertThat(first.get("news").text()).isEqualTo("hello");
        assertThat(Node.parse(first.get("body").text()).get("model").text()).isEqualTo("m");
    }
}
