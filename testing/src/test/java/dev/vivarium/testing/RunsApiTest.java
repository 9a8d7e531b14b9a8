package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.JsonFields;
import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The real worker with the runtime `command`.
class RunsApiTest {
    private static final String SANDBOXES = "/api/v1/sandboxes";

    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with();

    private final Api api = SERVER.api();

    @Test
    void taskRunsToCompletion() {
        var spawned = spawn("until [ -e go ]; do sleep 0.05; done; echo working;"
                + " echo '{\"type\":\"result\",\"summary\":\"all done\"}'");
        var sandbox = spawned.string("sandbox_id");

        assertThat(spawned.string("task_id")).startsWith("tsk");
        assertThat(spawned.string("thread_id")).isNotBlank();
        assertThat(spawned.string("status")).isEqualTo("running");
        assertThat(spawned.string("preview_url")).contains(sandbox);
        api.execute(sandbox, "touch go");
        awaitStatus(sandbox, "completed");
        // Events reach the log shortly after the change of status.
        var details = await().until(
                        () -> api.get(SANDBOXES + "/" + sandbox).json(),
                        found -> found.text().contains("sandbox.run_ended"));
        var run = details.object("sandbox").object("run");
        assertThat(details.object("sandbox").string("state")).isEqualTo("running");
        assertThat(run.string("runtime")).isEqualTo("command");
        assertThat(run.object("task").string("status")).isEqualTo("completed");
        assertThat(run.object("task").object("result").string("summary")).isEqualTo("all done");
        assertThat(details.objects("recent_events"))
                .extracting(event -> event.string("event_type"))
                .contains(
                        "sandbox.run_started", "agent.started", "agent.output", "agent.completed", "sandbox.run_ended");
    }

    @Test
    void repeatedTaskHasNoResultUntilItEnds() {
        var first = spawn("echo old");
        awaitStatus(first.string("sandbox_id"), "completed");
        assertThat(task(first.string("sandbox_id")).object("result").string("summary"))
                .isEqualTo("old");
        var again = api.post(
                        SANDBOXES,
                        "{\"task_id\":\"" + first.string("task_id")
                                + "\",\"runtime\":\"command\",\"command\":[\"sleep\",\"1000\"]}")
                .json();

        assertThat(task(again.string("sandbox_id")).optionalObject("result")).isEmpty();
    }

    @Test
    void missingProgramFailsWithItsName() {
        var sandbox = spawnArguments("\"no-such-program\"").string("sandbox_id");

        awaitStatus(sandbox, "failed");
        assertThat(reason(sandbox)).contains("no-such-program");
    }

    @Test
    void failingProgramReportsItsLastOutput() {
        var sandbox = spawn("echo the disk is on fire >&2; exit 7").string("sandbox_id");

        awaitStatus(sandbox, "failed");
        assertThat(reason(sandbox)).contains("7", "the disk is on fire");
        assertThat(task(sandbox).string("status")).isEqualTo("failed");
    }

    @Test
    void endOfSandboxEndsItsRun() {
        var sandbox = spawn("sleep 1000").string("sandbox_id");
        var deleted = api.method("DELETE", SANDBOXES + "/" + sandbox);

        assertThat(deleted.status()).isEqualTo(200);
        assertThat(deleted.json().string("status")).isEqualTo("terminated");
        awaitStatus(sandbox, "terminated");
        assertThat(reason(sandbox)).contains("ended by request");
        assertThat(task(sandbox).string("status")).isEqualTo("failed");
    }

    @Test
    void threadHasOneRunAtATime() {
        String thread = Api.thread();
        var first = spawn("sleep 1000", "\"thread_id\":\"" + thread + "\"");
        var second = api.post(SANDBOXES, body("true", "\"thread_id\":\"" + thread + "\""));

        assertThat(second.status()).isEqualTo(409);
        assertThat(second.json().string("detail")).contains("has an agent at work");
        api.method("DELETE", SANDBOXES + "/" + first.string("sandbox_id"));
        var third = spawn("true", "\"thread_id\":\"" + thread + "\"").string("sandbox_id");
        awaitStatus(third, "completed");
        var fourth = spawn("true", "\"thread_id\":\"" + thread + "\"");
        assertThat(fourth.string("sandbox_id")).isEqualTo(third);
        awaitStatus(third, "completed");
        assertThat(api.post(SANDBOXES, body("true", "\"thread_id\":\"" + thread + "\",\"limits\":{\"cpus\":1}"))
                        .status())
                .isEqualTo(409);
    }

    @Test
    void taskCanRunAgainByItsId() {
        var first = spawn("exit 1");
        awaitStatus(first.string("sandbox_id"), "failed");
        var again = api.post(
                SANDBOXES,
                "{\"task_id\":\"" + first.string("task_id") + "\",\"runtime\":\"command\",\"command\":[\"true\"]}");

        assertThat(again.status()).isEqualTo(201);
        awaitStatus(again.json().string("sandbox_id"), "completed");
        var both = api.get(SANDBOXES + "?task_id=" + first.string("task_id"))
                .json()
                .objects("sandboxes");
        assertThat(both).hasSize(2);
    }

    @Test
    void runningTaskIsAConflictAndCreatesNoSandbox() {
        var busy = spawn("exec sleep 1000");
        String thread = Api.thread();
        var rejected = api.post(
                SANDBOXES,
                "{\"task_id\":\"" + busy.string("task_id") + "\",\"thread_id\":\"" + thread
                        + "\",\"runtime\":\"command\",\"command\":[\"true\"]}");

        assertThat(rejected.status()).isEqualTo(409);
        assertThat(rejected.json().string("detail")).contains("another run works on task " + busy.string("task_id"));
        assertThat(api.get(SANDBOXES).text()).doesNotContain(thread);
        assertThat(api.get("/threads").text()).doesNotContain(thread);
    }

    @Test
    void listIncludesSandboxesWithoutRunsAndFiltersByStatus() {
        String plain = api.session();
        var done = spawn("true").string("sandbox_id");
        awaitStatus(done, "completed");

        var all = api.get(SANDBOXES + "?limit=1000").json().objects("sandboxes");
        assertThat(all)
                .filteredOn(box -> box.string("sandbox_id").equals(plain))
                .singleElement()
                .satisfies(box -> {
                    assertThat(box.string("status")).isEqualTo("running");
                    assertThat(box.optionalObject("run")).isEmpty();
                });
        assertThat(api.get(SANDBOXES + "?status=completed").text())
                .contains(done)
                .doesNotContain(plain);
        assertThat(api.get(SANDBOXES + "?status=napping").status()).isEqualTo(400);
    }

    @Test
    void onlyTheProgramOfARunSeesItsToken() {
        var sandbox = spawn("env | cut -d = -f 1; sleep 1000").string("sandbox_id");

        await().untilAsserted(
                        () -> assertThat(api.get(SANDBOXES + "/" + sandbox + "/events?type=agent.output&limit=1000")
                                        .text())
                                .contains("SANDBOX_ID", "SANDBOX_TOKEN")
                                .doesNotContain("MODEL_TOKEN"));
        assertThat(api.execute(sandbox, "env").string("stdout")).doesNotContain("TOKEN");
    }

    @Test
    void runsOfOtherUsersAreNotFound() {
        var sandbox = spawn("sleep 1000").string("sandbox_id");
        var stranger = api.as("stranger");

        assertThat(stranger.get(SANDBOXES + "/" + sandbox).status()).isEqualTo(404);
        assertThat(stranger.method("DELETE", SANDBOXES + "/" + sandbox).status())
                .isEqualTo(404);
        assertThat(stranger.post(SANDBOXES + "/" + sandbox + "/pause", "").status())
                .isEqualTo(404);
        assertThat(stranger.get(SANDBOXES).text()).doesNotContain(sandbox);
        assertThat(stranger.post(SANDBOXES, body("true", "\"user_id\":\"admin\""))
                        .status())
                .isEqualTo(403);
    }

    @Test
    void missingImageIsReportedWithTheBuildCommand() {
        var answer = api.post(SANDBOXES, "{\"task\":{\"title\":\"x\"},\"runtime\":\"claude\"}");

        assertThat(answer.status()).isEqualTo(409);
        assertThat(answer.json().string("detail")).contains("viv image build worker");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{}|runtime",
                "{'runtime':'command'}|command",
                "{'runtime':'command','command':[]}|command",
                "{'runtime':'command','command':['true']}|task",
                "{'runtime':'command','command':['true'],'task':{}}|task.title",
                "{'runtime':'command','command':['true'],'task':{'title':''}}|task.title",
                "{'runtime':'command','command':['true'],'task':{'title':'a\\u0007b'}}|task.title",
                "{'runtime':'command','command':['true'],'task':{'title':'x','extra':1}}|task.extra",
                "{'runtime':'command','command':['true'],'task':{'title':'x','context':[]}}|task.context",
                "{'runtime':'command','command':['a\\u0000b'],'task':{'title':'x'}}|command",
                "{'runtime':'telepathy','task':{'title':'x'}}|runtime",
                "{'runtime':'claude','command':['true'],'task':{'title':'x'}}|command",
                "{'runtime':'claude','model':'a b','task':{'title':'x'}}|model",
                "{'runtime':'claude','budget_usd':0,'task':{'title':'x'}}|budget_usd",
                "{'runtime':'claude','budget_usd':'1','task':{'title':'x'}}|budget_usd",
                "{'runtime':'claude','resume_from':'x','task':{'title':'x'}}|resume_from",
                "{'runtime':'claude','env':{'LD_PRELOAD':'x'},'task':{'title':'x'}}|env.LD_PRELOAD",
                "{'runtime':'claude','thread_id':'','task':{'title':'x'}}|thread_id",
                "{'runtime':'claude','task':{'title':'x'},'limits':{'cpus':1000}}|limits.cpus",
                "{'runtime':'claude','task':{'title':'x'},'colour':'red'}|colour",
            })
    void invalidRunRequestIsUnprocessable(String body, String field) {
        var answer = api.post(SANDBOXES, body.replace('\'', '"'));

        assertThat(answer.status()).isEqualTo(422);
        assertThat(answer.json().string("field")).isEqualTo(field);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "'allowed_tools':'Bash'|allowed_tools",
                "'allowed_tools':{'Bash':true}|allowed_tools",
                "'allowed_tools':['Bash',7]|allowed_tools",
                "'allowed_tools':['']|allowed_tools",
                "'allowed_tools':['a\\u0007b']|allowed_tools",
                "'time_limit_minutes':'soon'|time_limit_minutes",
                "'time_limit_minutes':0|time_limit_minutes",
                "'time_limit_minutes':-1.5|time_limit_minutes",
                "'time_limit_minutes':true|time_limit_minutes",
                "'time_limit_minutes':1e300|time_limit_minutes",
            })
    void invalidConstraintIsUnprocessable(String constraint, String field) {
        var answer = api.post(SANDBOXES, constrained(constraint));

        assertThat(answer.status()).isEqualTo(422);
        assertThat(answer.json().string("field")).isEqualTo("task.constraints." + field);
    }

    @Test
    void tooManyToolsAreUnprocessable() {
        String tools = String.join(",", Collections.nCopies(101, "'t'"));
        var answer = api.post(SANDBOXES, constrained("'allowed_tools':[" + tools + "]"));

        assertThat(answer.status()).isEqualTo(422);
        assertThat(answer.json().string("detail")).contains("task.constraints.allowed_tools", "at most 100");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "'allowed_tools':[],'time_limit_minutes':0.5",
                "'allowed_tools':null,'time_limit_minutes':null",
                "'allowed_tools':['Bash','mcp__x__y'],'time_limit_minutes':60,'tone':{'any':['thing']}",
            })
    void unknownConstraintsAreAccepted(String constraints) {
        var answer = api.post(SANDBOXES, constrained(constraints));

        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
    }

    @ParameterizedTest
    @CsvSource({
        "command,SANDBOX_TOKEN",
        "command,SANDBOX_ID",
        "command,TASK_ID",
        "command,BACKEND_URL",
        "command,RUNTIME",
        "command,MODEL_URL",
        "command,MODEL_TOKEN",
        "command,MODEL",
        "command,BUDGET_USD",
        "command,RESUME_SESSION",
        "command,WORKSPACE_DIR",
        "command,WORKER_STATE_DIR",
        "command,OPENAI_API_KEY",
        "command,OPENAI_BASE_URL",
        "claude,ANTHROPIC_API_KEY",
        "claude,ANTHROPIC_BASE_URL",
        "openhands,SANDBOX_TOKEN",
    })
    void reservedVariableIsUnprocessable(String runtime, String name) {
        String command = runtime.equals("command") ? ",'command':['true']" : "";
        var answer = api.post(
                SANDBOXES,
                ("{'task':{'title':'t'},'runtime':'" + runtime + "'" + command + ",'env':{'A':'b','" + name + "':'x'}}")
                        .replace('\'', '"'));

        assertThat(answer.status()).isEqualTo(422);
        assertThat(answer.json().string("field")).isEqualTo("env." + name);
    }

    @Test
    void reservedVariableNamesItsField() {
        var answer = api.post(SANDBOXES, body("true", "\"env\":{\"BUDGET_USD\":\"5\"}"));

        assertThat(answer.json().string("detail")).contains("env.BUDGET_USD", "budget_usd");
    }

    @Test
    void unknownTaskIsNotFound() {
        for (String id : new String[] {"tskaaaaaaaaaaaaaaaaaaaa", "nonsense"}) {
            var answer =
                    api.post(SANDBOXES, "{\"task_id\":\"" + id + "\",\"runtime\":\"command\",\"command\":[\"true\"]}");
            assertThat(answer.status()).isEqualTo(404);
            assertThat(answer.json().string("detail")).contains(id);
        }
    }

    @Test
    void descriptionOver100KilobytesIsUnprocessable() {
        var answer = api.post(
                SANDBOXES,
                "{\"task\":{\"title\":\"x\",\"description\":\"" + "y".repeat(101 * 1024)
                        + "\"},\"runtime\":\"command\",\"command\":[\"true\"]}");

        assertThat(answer.status()).isEqualTo(422);
        assertThat(answer.json().string("field")).isEqualTo("task.description");
    }

    private static String constrained(String constraints) {
        return ("{'task':{'title':'t','constraints':{" + constraints + "}},'runtime':'command','command':['true']}")
                .replace('\'', '"');
    }

    private JsonFields spawn(String script) {
        return spawn(script, "");
    }

    private JsonFields spawn(String script, String more) {
        var answer = api.post(SANDBOXES, body(script, more));
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json();
    }

    private JsonFields spawnArguments(String arguments) {
        return api.post(
                        SANDBOXES,
                        "{\"task\":{\"title\":\"t\"},\"runtime\":\"command\",\"command\":[" + arguments + "]}")
                .json();
    }

    private static String body(String script, String more) {
        String arguments = "\"sh\",\"-c\",\"" + script.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
        return "{\"task\":{\"title\":\"t\"},\"runtime\":\"command\",\"command\":[" + arguments + "]"
                + (more.isEmpty() ? "" : "," + more) + "}";
    }

    private void awaitStatus(String sandbox, String status) {
        await().untilAsserted(() -> assertThat(api.get(SANDBOXES + "/" + sandbox)
                        .json()
                        .object("sandbox")
                        .string("status"))
                .isEqualTo(status));
    }

    private String reason(String sandbox) {
        return api.get(SANDBOXES + "/" + sandbox).json().object("sandbox").string("reason");
    }

    private JsonFields task(String sandbox) {
        return api.get(SANDBOXES + "/" + sandbox)
                .json()
                .object("sandbox")
                .object("run")
                .object("task");
    }
}
