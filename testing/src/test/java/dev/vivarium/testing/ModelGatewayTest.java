package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.access.WorkerGrant.Audience;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskId;
import dev.vivarium.scripted.Script;
import dev.vivarium.scripted.ScriptedModel;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Agents in isolated sandboxes call models through the gateway: a scripted model with Anthropic's API, and a fake
/// vendor with OpenAI's API that records its requests. Needs root.
@Tag("root")
@Timeout(120)
class ModelGatewayTest {
    private static final String KEY = "sk-ant-0f-the-operator-and-nobody-else";
    private static final String OTHER_KEY = "sk-openai-0f-the-operator-too";
    private static final String ASK =
            "{\"model\":\"claude-sonnet-4-5\",\"max_tokens\":10,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]%s}";

    /// Exit code of curl for a truncated response.
    private static final int CURL_PARTIAL_FILE = 18;

    @TempDir
    static Path directory;

    private static ScriptedModel model;
    private static OpenAiVendor vendor;
    private static TestServer server;

    private Api api;
    private String sandbox;
    private URI controlPort;
    private String token;

    @BeforeAll
    static void start() throws IOException {
        model = ScriptedModel.start(Script.parse("{\"steps\": []}"), 0);
        vendor = OpenAiVendor.start(OTHER_KEY);
        Path keyFile = Files.writeString(directory.resolve("key"), KEY + "\n");
        Files.setPosixFilePermissions(keyFile, PosixFilePermissions.fromString("rw-------"));
        server = TestServer.startIsolatedAs(
                TestServer::withoutRefills,
                "--disk-mb",
                "64",
                "--model-url",
                model.uri().toString(),
                "--model-key-file",
                keyFile.toString(),
                "--openai-url",
                vendor.url(),
                "--openai-key",
                OTHER_KEY,
                "--rate-models",
                "60");
    }

    @AfterAll
    static void stop() {
        server.close();
        model.close();
        vendor.close();
    }

    @BeforeEach
    void spawn() {
        api = server.api();
        vendor.stream(OpenAiVendor.STREAM);
        spawn("1.5");
    }

    private void spawn(String budget) {
        var spawned = api.post(
                        "/api/v1/sandboxes",
                        "{\"task\":{\"title\":\"t\",\"description\":\"d\"},\"runtime\":\"command\","
                                + "\"command\":[\"sleep\",\"1000\"],\"budget_usd\":" + budget + "}")
                .json();
        sandbox = spawned.string("sandbox_id");
        controlPort = server.sandboxes().require(new SandboxId(sandbox)).openControlPort();
        token = server.workerToken(sandbox, new TaskId(spawned.string("task_id")), Audience.MODEL);
    }

    @Test
    void streamIsForwardedUnchangedAndCharged() {
        play("{\"text\":\"hello there\",\"usage\":{\"input_tokens\":1000,\"output_tokens\":50}}");
        String answer = ask("messages?beta=true", ASK.formatted(",\"stream\":true"));

        assertThat(answer)
                .contains("event: message_start", "text_delta", "event: message_stop")
                .endsWith(" 200");
        var call = lastCall();
        assertThat(call.string("model")).isEqualTo("claude-sonnet-4-5");
        assertThat(call.integer("input_tokens")).isEqualTo(1000);
        assertThat(call.integer("output_tokens")).isEqualTo(50);
        assertThat(call.number("cost_usd")).isCloseTo(0.00375, within(1e-9));
        assertThat(call.flag("estimated")).isFalse();
        assertThat(call.integer("status")).isEqualTo(200);
        assertThat(api.get("/api/v1/sandboxes/" + sandbox + "/events?type=agent.model_call_started")
                        .text())
                .contains("\"model\":\"claude-sonnet-4-5\"");
        assertThat(api.get("/api/v1/sandboxes/" + sandbox).text()).contains("0.00375");
        assertThat(api.get("/metrics").text()).contains("vivarium_model_calls_seconds_count{status=\"200\"");
    }

    @Test
    void everyCallIsRecordedInTheAuditWithoutTextOfTheCaller() {
        play("{\"text\":\"x\",\"times\":0}");
        ask("messages", ASK.formatted(",\"stream\":true"));
        ask("messages", ASK.formatted(""));
        ask("nonsense", "{}");
        ask("messages", ASK.formatted(""), "-H 'x-api-key: wrong' ");

        await().untilAsserted(() -> assertThat(api.get("/admin/audit?limit=1000&sandbox_id=" + sandbox)
                        .json()
                        .objects("entries"))
                .filteredOn(entry -> entry.string("route").contains(" /model/"))
                .extracting(
                        entry -> entry.string("kind"),
                        entry -> entry.string("sub"),
                        entry -> entry.integer("outcome"),
                        entry -> entry.string("route"),
                        entry -> entry.integer("count"))
                .containsExactlyInAnyOrder(
                        tuple("used", "worker:" + sandbox, 200L, "POST /model/v1/messages", 2L),
                        tuple("used", "worker:" + sandbox, 404L, "* /model/{rest…}", 1L),
                        tuple("refused", "sandbox:" + sandbox, 401L, "POST /model/v1/messages", 1L)));
    }

    @Test
    void responseIsChargedWithItsCacheTokens() {
        play("{\"text\":\"x\",\"usage\":{\"input_tokens\":100,\"output_tokens\":10,\"cache_read_tokens\":1000000,"
                + "\"cache_write_tokens\":100000}}");

        assertThat(ask("messages", ASK.formatted(""))).endsWith(" 200");
        assertThat(lastCall().number("cost_usd")).isCloseTo(0.0003 + 0.00015 + 0.3 + 0.375, within(1e-9));
    }

    @Test
    void openAiRequestGetsUsageOptionAndOnlyTheOperatorsKey() {
        String body = "{\"model\":\"gpt-4o\",\"messages\":[],\"stream\":true}";
        assertThat(ask("chat/completions", body, "-H 'Authorization: Bearer " + token + "' -H 'Cookie: a=b' "))
                .contains("[DONE]")
                .endsWith(" 200");

        assertThat(vendor.sent())
                .contains("Bearer " + OTHER_KEY, "\"stream_options\":{\"include_usage\":true}")
                .doesNotContain(token, "Cookie", "a=b", controlPort.getAuthority());
        var call = lastCall();
        assertThat(call.integer("input_tokens")).isEqualTo(600);
        assertThat(call.integer("cache_read_tokens")).isEqualTo(400);
        assertThat(call.number("cost_usd")).isCloseTo(0.0015 + 0.0005 + 0.001, within(1e-9));
    }

    @Test
    void missingUsageIsEstimatedAndUnknownModelsCostTheHighestPrice() {
        ask("chat/completions", "{\"model\":\"gpt-4o\",\"messages\":[]}");
        var call = lastCall();
        assertThat(call.flag("estimated")).isTrue();
        assertThat(call.integer("output_tokens")).isEqualTo(2);
        assertThat(call.integer("input_tokens")).isEqualTo(8);

        play("{\"text\":\"x\",\"usage\":{\"input_tokens\":0,\"output_tokens\":1000}}");
        ask("messages", ASK.formatted("").replace("claude-sonnet-4-5", "nobody-knows-me"));
        assertThat(lastCall().number("cost_usd")).isCloseTo(0.075, within(1e-9));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ",\"stream\":true"})
    void negativeUsageIsEstimated(String kind) {
        play("{\"text\":\"12345678\",\"usage\":{\"input_tokens\":-100000,\"output_tokens\":-5}}");

        assertThat(ask("messages", ASK.formatted(kind))).contains("-100000").endsWith(" 200");
        var call = lastCall();
        assertThat(call.flag("estimated")).isTrue();
        assertThat(call.integer("input_tokens")).isGreaterThan(10);
        assertThat(call.integer("output_tokens")).isEqualTo(2);
        assertThat(call.number("cost_usd")).isPositive();
    }

    @Test
    void parallelCallsExceedTheBudgetByAtMostOneCall() {
        spawn("3");
        // Each call costs $2: 133,334 tokens at $15 for a million.
        play("{\"text\":\"x\",\"times\":0,\"usage\":{\"input_tokens\":0,\"output_tokens\":133334}}");
        String call =
                curl("messages", ASK.formatted("").replace("\"max_tokens\":10", "\"max_tokens\":133334"), xApiKey());
        api.execute(sandbox, "for i in $(seq 40); do " + call + " & done; wait");

        var run =
                api.get("/api/v1/sandboxes/" + sandbox).json().object("sandbox").object("run");
        assertThat(run.number("cost_usd")).isBetween(3.0, 4.1);
    }

    @Test
    void parallelCallsWithinTheBudgetAllSucceed() {
        spawn("1");
        play("{\"text\":\"x\",\"times\":0,\"usage\":{\"input_tokens\":0,\"output_tokens\":1000}}");
        // The worst case of two calls exceeds the budget, so the calls run one after another.
        String call =
                curl("messages", ASK.formatted("").replace("\"max_tokens\":10", "\"max_tokens\":60000"), xApiKey());

        assertThat(api.execute(sandbox, "for i in $(seq 5); do " + call + " & done; wait")
                        .string("stdout")
                        .split(" 200", -1))
                .hasSize(6);
    }

    @Test
    void spentBudgetBlocksModelCalls() {
        spawn("0.001");
        play("{\"text\":\"x\",\"times\":0,\"usage\":{\"input_tokens\":1000,\"output_tokens\":50}}");

        assertThat(ask("messages", ASK.formatted(""))).endsWith(" 200");
        String rejected = ask("messages", ASK.formatted(""));
        assertThat(rejected)
                .containsPattern("\"type\":\"error\".*(billing_error|permission_error|authentication_error)");
        assertThat(rejected).containsPattern(" 40[1-3]$");
        assertThat(model.asked()).hasSize(1);
        await().untilAsserted(() ->
                assertThat(api.get("/api/v1/sandboxes/" + sandbox).text()).contains("\"status\":\"failed\""));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"kind\":\"garbage\"} | 502 | api_error",
                "{\"kind\":\"close\"} | 502 | api_error",
                "{\"kind\":\"status\",\"status\":529} | 529 | error",
                "{\"kind\":\"status\",\"status\":429,\"retry_after\":7} | 429 | rate_limit_error",
                "{\"kind\":\"status\",\"status\":401} | 403 | permission_error",
                "{\"kind\":\"status\",\"status\":400} | 400 | invalid_request_error"
            })
    void errorsHaveTheFormatOfTheSdk(String fault, int status, String type) {
        play("{\"fault\":" + fault + "}");
        String answer = ask("messages", ASK.formatted(",\"stream\":true"), "-i -H 'x-api-key: " + token + "' ");

        assertThat(answer).contains("\"type\":\"error\"", type).endsWith(" " + status);
        assertThat(answer.contains("Retry-After: 7") || answer.contains("retry-after: 7"))
                .isEqualTo(status == 429);
        assertThat(lastCall().integer("status")).isEqualTo(status);
        assertThat(lastCall().number("cost_usd")).isZero();
    }

    @Test
    void truncatedStreamIsTruncatedForTheAgentAndCharged() {
        play("{\"text\":\"" + "word ".repeat(100) + "\",\"fault\":{\"kind\":\"cut\"},"
                + "\"usage\":{\"input_tokens\":100,\"output_tokens\":100}}");

        var received = api.execute(sandbox, curl("messages", ASK.formatted(",\"stream\":true"), xApiKey()));
        assertThat(received.string("stdout")).contains("message_start").doesNotContain("message_stop");
        assertThat(received.integer("exit_code")).isEqualTo(CURL_PARTIAL_FILE);
        var call = lastCall();
        assertThat(call.integer("status")).isEqualTo(502);
        assertThat(call.flag("estimated")).isTrue();
        assertThat(call.integer("output_tokens")).isGreaterThan(10);
    }

    @ParameterizedTest
    @ValueSource(strings = {"data: {{{{\n\n\0\u00ff", "\0\u00ff", "data: {\"choices\":[{\"delta\":{}}]}\n\n"})
    void streamWithoutALastEventIsTruncated(String stream) {
        vendor.stream(stream);
        var received = api.execute(
                sandbox,
                curl("chat/completions", "{\"model\":\"gpt-4o\",\"stream\":true}", xApiKey())
                        + " | tr -d '\\0'; exit ${PIPESTATUS[0]}");

        assertThat(received.integer("exit_code")).isEqualTo(CURL_PARTIAL_FILE);
        var call = lastCall();
        assertThat(call.integer("status")).isEqualTo(502);
        assertThat(call.flag("estimated")).isTrue();
        assertThat(call.number("cost_usd")).isPositive();
    }

    @Test
    void emptyStreamIsABadGateway() {
        vendor.stream("");

        assertThat(ask("chat/completions", "{\"model\":\"gpt-4o\",\"stream\":true}"))
                .contains("server_error", "ended before its last event")
                .endsWith(" 502");
        assertThat(lastCall().integer("status")).isEqualTo(502);
    }

    @Test
    void disconnectOfTheAgentCancelsTheModelCall() throws InterruptedException {
        String hold = curl("chat/completions", "{\"stream\":true,\"messages\":[\"please hold\"]}", xApiKey());
        api.execute(sandbox, hold + " > heard & until [ -s heard ]; do sleep 0.05; done; kill $!");

        assertThat(vendor.awaitDisconnect()).isTrue();
        await().untilAsserted(() -> assertThat(lastCall().integer("status")).isEqualTo(499));
        assertThat(lastCall().flag("estimated")).isTrue();
        assertThat(lastCall().integer("input_tokens")).isPositive();
        assertThat(lastCall().number("cost_usd")).isPositive();
    }

    @Test
    void requestThatDisablesUsageIsRejected() {
        vendor.forget();
        String body =
                "{\"model\":\"gpt-4o\",\"messages\":[],\"stream\":true,\"stream_options\":{\"include_usage\":false}}";

        assertThat(ask("chat/completions", body)).contains("include_usage").endsWith(" 400");
        assertThat(vendor.sent()).isEmpty();
    }

    @Test
    void nonAsciiHeaderIsNotForwarded() {
        String headers = xApiKey() + "-A 'strange-\u00e4gent' ";

        assertThat(ask("chat/completions", "{\"model\":\"gpt-4o\",\"messages\":[]}", headers))
                .endsWith(" 200");
        assertThat(vendor.sent()).contains("gpt-4o").doesNotContain("strange");
    }

    @Test
    void onlyTheModelTokenOfTheRunIsAccepted() {
        String worker = server.workerToken(sandbox, Audience.WORKER);
        String strangers = server.workerToken(api.session(), Audience.MODEL);
        String ask = ASK.formatted("");

        for (String key : List.of("nonsense", worker, server.adminKey())) {
            assertThat(ask("messages", ask, "-H 'x-api-key: " + key + "' "))
                    .contains("authentication_error")
                    .endsWith(" 401");
        }
        assertThat(ask("chat/completions", ask, ""))
                .contains("\"error\":{\"message\"")
                .endsWith(" 401");
        assertThat(ask("messages", ask, "-H 'x-api-key: " + strangers + "' "))
                .contains("permission_error")
                .endsWith(" 403");
        String another = server.workerToken(sandbox, Audience.MODEL);
        assertThat(ask("messages", ask, "-H 'x-api-key: " + another + "' "))
                .contains("has ended")
                .endsWith(" 403");
        assertThat(api.with(token).post("/model/v1/messages", ask).status()).isEqualTo(403);
        assertThat(api.post("/model/v1/messages", ask).status()).isEqualTo(404);
    }

    @Test
    void unknownPathIsNotFoundInTheFormatOfTheSdk() {
        String bearer = "-H 'Authorization: Bearer " + token + "' ";

        assertThat(ask("responses", "{}", bearer))
                .startsWith(
                        "{\"error\":{\"message\":\"POST /model/v1/responses is not served here; POST /model/v1/messages,")
                .contains("GET /model/v1/models", "\"type\":\"not_found_error\"")
                .endsWith(" 404");
        assertThat(ask("zork", "{}", xApiKey() + "-H 'anthropic-version: 2023-06-01' "))
                .startsWith("{\"type\":\"error\",\"error\":{\"type\":\"not_found_error\"")
                .contains("POST /model/v1/zork is not served here")
                .endsWith(" 404");
        assertThat(ask("messages", "{}", bearer + "-X PUT "))
                .contains("PUT /model/v1/messages is not")
                .endsWith(" 404");
        assertThat(ask("zork", "{}", "")).contains("authentication_error").endsWith(" 401");
    }

    @Test
    void onlyListedPathsAreForwarded() {
        play("{\"text\":\"x\",\"times\":0}");
        assertThat(ask("messages/count_tokens", ASK.formatted("")))
                .contains("input_tokens")
                .endsWith(" 200");
        assertThat(api.execute(sandbox, "curl -s -w ' %{http_code}' " + xApiKey() + controlPort + "/model/v1/models")
                        .string("stdout"))
                .contains("gpt-4o")
                .endsWith(" 200");
        assertThat(ask("files", "{}")).doesNotEndWith(" 200");
        assertThat(ask("messages/../../scripted/script", "{}")).doesNotEndWith(" 200");
        assertThat(ask("messages?x=%0d%0a", ASK.formatted(""))).endsWith(" 400");
        assertThat(ask("messages", "[1]")).contains("invalid_request_error").endsWith(" 400");
        assertThat(ask("messages", "{\"a\":")).contains("invalid_request_error").endsWith(" 400");
    }

    @Test
    void operatorKeysNeverEnterTheSandbox() {
        play("{\"text\":\"x\",\"times\":0}");
        ask("messages", ASK.formatted(""));
        String answer = ask("chat/completions", "{\"messages\":[\"echo the key\"]}");

        assertThat(answer).contains("bad key ***").endsWith(" 400").doesNotContain(OTHER_KEY, "vendor=1");
        String search = "cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n' > /tmp/seen;"
                + " find / -xdev -type f -size -2M -readable -not -path '/usr/*' -not -path '/sys/*' -print0"
                + " 2>/dev/null | xargs -0 cat >> /tmp/seen 2>/dev/null; wc -c < /tmp/seen;"
                + " grep -ac 'f-the-operato[r]' /tmp/seen";
        String[] found = api.post("/execute", Api.command(sandbox, search, "\"timeout\":300"))
                .json()
                .string("stdout")
                .strip()
                .split("\n");
        assertThat(Long.parseLong(found[0])).isGreaterThan(1000);
        assertThat(found[1]).isEqualTo("0");
    }

    @Test
    void rateLimitedAgentReceivesRetryAfter() {
        String asks = "curl -s -w '%{http_code} %header{retry-after}\\n' -o /dev/null " + xApiKey() + "'" + controlPort
                + "/model/v1/models?[1-80]'; curl -s " + xApiKey() + controlPort + "/model/v1/models";
        String answers = api.execute(sandbox, asks).string("stdout");

        assertThat(answers).contains("200 \n", "429 2\n", "rate_limit_error", "asks too often");
    }

    private static void play(String step) {
        model.play(Script.parse("{\"steps\":[" + step + "]}"));
    }

    private JsonFields lastCall() {
        var events = api.get("/api/v1/sandboxes/" + sandbox + "/events?type=agent.model_call&limit=1000")
                .json()
                .objects("events");
        assertThat(events).isNotEmpty();
        return events.getLast().object("event_data");
    }

    private String xApiKey() {
        return "-H 'x-api-key: " + token + "' ";
    }

    private String ask(String path, String body) {
        return ask(path, body, xApiKey());
    }

    private String ask(String path, String body, String headers) {
        return api.execute(sandbox, curl(path, body, headers)).string("stdout");
    }

    private String curl(String path, String body, String headers) {
        return "curl -sN -m 60 --path-as-is -w ' %{http_code}' -H 'Content-Type: application/json' " + headers + "-d '"
                + body + "' '" + controlPort + "/model/v1/" + path + "'";
    }
}
