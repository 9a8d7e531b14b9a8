package dev.vivarium.json;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.model.AlertEvent;
import dev.vivarium.model.CommandEvent;
import dev.vivarium.model.CommandEvent.Target;
import dev.vivarium.model.CommandEvent.Text;
import dev.vivarium.model.ConductorEvent;
import dev.vivarium.model.DeliveryId;
import dev.vivarium.model.End;
import dev.vivarium.model.EventBody;
import dev.vivarium.model.Exit;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.FileEvent;
import dev.vivarium.model.FileEvent.Diff;
import dev.vivarium.model.FileEvent.Kind;
import dev.vivarium.model.FileEvent.Metadata;
import dev.vivarium.model.GitEvent;
import dev.vivarium.model.GuardianEvent;
import dev.vivarium.model.Judgement;
import dev.vivarium.model.LivenessEvent;
import dev.vivarium.model.Message;
import dev.vivarium.model.MessageEvent;
import dev.vivarium.model.ProcessEvent;
import dev.vivarium.model.ProcessInfo;
import dev.vivarium.model.ReviewEvent;
import dev.vivarium.model.ReviewId;
import dev.vivarium.model.ReviewPolicy;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunEvent;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxEvent;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.Task;
import dev.vivarium.model.TaskError;
import dev.vivarium.model.TaskEvent;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.Usage;
import dev.vivarium.model.UserId;
import dev.vivarium.model.WebhookId;
import dev.vivarium.model.WorkerEvent;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.StringJoiner;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/// The stored text of events. Clients and old logs depend on every byte.
class EventBodyJsonTest {
    private static final EventBodyJson CODEC = new EventBodyJson();
    private static final RunId RUN = new RunId("runaaaaaaaaaaaaaaaaaaaa");
    private static final TaskId TASK = new TaskId("tskaaaaaaaaaaaaaaaaaaaa");
    private static final ReviewId REVIEW = new ReviewId("revaaaaaaaaaaaaaaaaaaaa");
    private static final UserId ANN = new UserId("ann");
    private static final Target COMMAND = new Target(7, Optional.empty(), Optional.empty());
    private static final Target PROCESS = new Target(7, Optional.of("p1"), Optional.empty());
    private static final Target SHELL = new Target(7, Optional.empty(), Optional.of("s1"));

    @Test
    void everyEventHasTheTextOfTheGoldenFile() throws IOException {
        String golden;
        try (var file = EventBodyJsonTest.class.getResourceAsStream("events.golden")) {
            golden = new String(file.readAllBytes(), StandardCharsets.UTF_8);
        }

        assertThat(samples().map(body -> body.type() + " " + CODEC.encode(body)))
                .containsExactlyElementsOf(golden.lines().toList());
    }

    @ParameterizedTest
    @MethodSource("samples")
    void anEventIsReadAsItWasWritten(EventBody body) {
        assertThat(CODEC.decode(body.type(), CODEC.encode(body))).isEqualTo(body);
    }

    @Test
    void everyEventHasASample() {
        assertThat(samples().<Class<?>>map(EventBody::getClass).collect(Collectors.toSet()))
                .containsExactlyInAnyOrderElementsOf(records(EventBody.class).collect(Collectors.toSet()));
    }

    private static Stream<Class<?>> records(Class<?> type) {
        return type.isSealed()
                ? Arrays.stream(type.getPermittedSubclasses()).flatMap(EventBodyJsonTest::records)
                : Stream.of(type);
    }

    /// If this test fails, replace the table in the reference by the one in the message.
    @Test
    void theReferenceListsEveryEventWithItsFields() throws IOException {
        var rows = new StringJoiner("\n");
        rows.add("| type | fields of `event_data` |").add("|---|---|");
        samples()
                .filter(body -> !(body instanceof EventBody.Custom))
                .collect(Collectors.groupingBy(EventBody::getClass, LinkedHashMap::new, Collectors.toList()))
                .values()
                .forEach(bodies -> rows.add("| " + types(bodies) + " | " + fields(bodies) + " |"));

        assertThat(Files.readString(Path.of("../docs/reference/events.md"))).contains(rows.toString());
    }

    private static String types(List<EventBody> bodies) {
        return bodies.stream().map(body -> "`" + body.type() + "`").distinct().collect(Collectors.joining(", "));
    }

    private static String fields(List<EventBody> bodies) {
        List<List<String>> all = bodies.stream()
                .map(body -> Json.answer(CODEC.encode(body)).names())
                .toList();
        var merged = new ArrayList<String>();
        for (List<String> names : all) {
            int at = 0;
            for (String name : names) {
                if (!merged.contains(name)) {
                    merged.add(at, name);
                }
                at = merged.indexOf(name) + 1;
            }
        }
        return merged.isEmpty()
                ? "none"
                : merged.stream()
                        .map(name ->
                                "`" + name + "`" + (all.stream().allMatch(names -> names.contains(name)) ? "" : "?"))
                        .collect(Collectors.joining(", "));
    }

    @Test
    void everyEventOfAWorkerIsInTheListOfTypes() {
        assertThat(samples()
                        .filter(WorkerEvent.class::isInstance)
                        .map(EventBody::type)
                        .distinct())
                .containsExactlyInAnyOrderElementsOf(WorkerEvent.TYPES);
    }

    @ParameterizedTest
    @MethodSource("samples")
    void dataWithoutTheFieldsOfItsTypeIsReadAsText(EventBody body) {
        for (String data : List.of("{}", "{\"pid\":\"x\",\"reason\":[],\"message_id\":1}", "[]", "", "{\"a\":")) {
            var read = CODEC.decode(body.type(), data);

            assertThat(read)
                    .satisfiesAnyOf(
                            other -> assertThat(other).isEqualTo(new EventBody.Custom(body.type(), data)),
                            other -> assertThat(other).isInstanceOf(WorkerEvent.class));
        }
    }

    /// Events that count for a run whatever else their data says.
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "agent.tool_use|{\"tool_name\":5}|ToolUsed[]",
                "agent.usage|{}|UsageReported[inputTokens=0, outputTokens=0, costUsd=0.0]",
                "agent.usage|{\"cost_usd\":\"1\"}|Custom[type=agent.usage, data={\"cost_usd\":\"1\"}]",
                "agent.transcript|{\"runtime\":\"x\"}|Custom[type=agent.transcript, data={\"runtime\":\"x\"}]",
                "agent.completed|{\"summary\":5}|Completed[summary=]",
                "agent.failed|{\"more\":1}|Failed[reason=, code=Optional.empty, costUsd=Optional.empty]",
            })
    void eventsOfWorkersAreReadLeniently(String type, String data, String read) {
        assertThat(CODEC.decode(type, data)).hasToString(read);
    }

    @Test
    void aTruncatedTextIsStillJson() {
        var body = new CommandEvent.Started(COMMAND, ProcessInfo.Kind.EXEC, "😀\ud83d…");

        assertThat(CODEC.encode(body)).isEqualTo("{\"pid\":7,\"kind\":\"exec\",\"command\":\"😀\\ud83d…\"}");
    }

    private static Stream<EventBody> samples() {
        return Stream.of(
                        sandboxes(),
                        commands(),
                        files(),
                        runs(),
                        liveness(),
                        tasks(),
                        git(),
                        reviews(),
                        messages(),
                        guards(),
                        alerts(),
                        workers())
                .flatMap(List::stream);
    }

    private static List<EventBody> sandboxes() {
        return List.of(
                new SandboxEvent.Started(new ThreadId("t1"), ANN, "warm", Duration.ofMillis(12)),
                new SandboxEvent.Paused("user", "by ann"),
                new SandboxEvent.Resumed("traffic", "woken by traffic"),
                new SandboxEvent.Hibernated("idle", "nobody used it", Instant.parse("2026-01-08T10:00:00Z")),
                new SandboxEvent.Woken(Duration.ofMillis(80)),
                new SandboxEvent.Recovered("adopted"),
                new SandboxEvent.Terminated(End.Cause.IDLE, Optional.of("")),
                new SandboxEvent.Terminated(End.Cause.SERVER, Optional.empty()),
                new SandboxEvent.Metrics(12.5, 100.0, 1L << 20, 256L << 20, 3, 64, 0, 512L << 20, 1));
    }

    private static List<EventBody> commands() {
        String line = "echo \"a\\b\"/\n\t\r\u0001\b\f\u001b €😀";
        return List.of(
                new CommandEvent.Started(COMMAND, ProcessInfo.Kind.EXEC, line),
                new CommandEvent.Started(PROCESS, ProcessInfo.Kind.DETACHED, "make"),
                new CommandEvent.Started(SHELL, ProcessInfo.Kind.SHELL, "bash"),
                new CommandEvent.Output(COMMAND, new Text(Optional.of("one"), Optional.empty()), Text.NONE, 0),
                new CommandEvent.Output(
                        PROCESS,
                        new Text(Optional.of("de"), Optional.of(15L)),
                        new Text(Optional.of("x"), Optional.of(3L)),
                        9),
                new CommandEvent.Output(SHELL, new Text(Optional.empty(), Optional.of(15L)), Text.NONE, 9),
                new CommandEvent.Completed(
                        PROCESS,
                        Exit.Cause.OOM,
                        Optional.of(new CommandEvent.Result(137, Duration.ofMillis(1500), 15, 3))),
                new CommandEvent.Completed(
                        SHELL,
                        Exit.Cause.EXITED,
                        Optional.of(new CommandEvent.Result(0, Duration.ofMillis(1500), 15, 0))),
                new CommandEvent.Completed(COMMAND, Exit.Cause.CANCELLED, Optional.empty()),
                new ProcessEvent.Started(9, "sleep 1"),
                new ProcessEvent.Completed(9, Exit.Cause.SIGNALLED, 137, Duration.ofMillis(1500)),
                new ProcessEvent.Folded(280));
    }

    private static List<EventBody> files() {
        var hashed = Optional.of(new Metadata(FileEntry.Type.FILE, 2, Optional.of("ab12")));
        var file = Optional.of(new Metadata(FileEntry.Type.FILE, 2, Optional.empty()));
        var directory = Optional.of(new Metadata(FileEntry.Type.DIRECTORY, 0, Optional.empty()));
        var link = Optional.of(new Metadata(FileEntry.Type.LINK, 0, Optional.empty()));
        var diff = new Diff(Optional.of("--- /dev/null\n+++ b/src/a\n@@ -0,0 +1 @@\n+1\n"), false, false);
        return List.of(
                new FileEvent.Changed(Kind.CREATED, "src/a", hashed, 0, diff),
                new FileEvent.Changed(
                        Kind.MODIFIED, "src/a", hashed, 0, new Diff(Optional.of("--- a/src/a\n"), true, false)),
                new FileEvent.Changed(Kind.MODIFIED, "src/a", file, 0, Diff.OMITTED),
                new FileEvent.Changed(Kind.DELETED, "d", directory, 2, Diff.NONE),
                new FileEvent.Changed(Kind.CREATED, "l", link, 0, Diff.NONE),
                new FileEvent.Changed(Kind.DELETED, "gone", Optional.empty(), 0, Diff.NONE),
                new FileEvent.Folded(812, 3, 0, List.of("node_modules", "."), false),
                new FileEvent.Folded(0, 0, 0, List.of(), true),
                new FileEvent.WatchDegraded(2));
    }

    private static List<EventBody> runs() {
        var little = new BigDecimal("1E-7");
        return List.of(
                new RunEvent.Started(RUN, TASK, Run.Runtime.CLAUDE),
                new RunEvent.Ended(
                        RUN,
                        TASK,
                        Run.Status.FAILED,
                        Optional.of("budget: spent $1"),
                        Optional.of("budget"),
                        new RunEvent.Total(little, 12, 3)),
                new RunEvent.Ended(
                        RUN,
                        TASK,
                        Run.Status.COMPLETED,
                        Optional.empty(),
                        Optional.empty(),
                        new RunEvent.Total(new BigDecimal("0.25"), 12, 3)),
                new RunEvent.ModelCallStarted("m"),
                new RunEvent.ModelCalled(new Usage("m", 1, 2, 3, 4, little), Duration.ofMillis(250), 200, false));
    }

    private static List<EventBody> liveness() {
        var at = Instant.parse("2026-01-01T10:00:00Z");
        var sandbox = new SandboxId("sbxaaaaaaaaaaaaaaaaaaaa");
        return List.of(
                new LivenessEvent.HeartbeatMissed(RUN, at),
                new LivenessEvent.Probed(RUN, true, "stopped", Optional.of("do_signal_stop"), 2, 4096, 1024, 512, 0),
                new LivenessEvent.Probed(RUN, false, "unknown", Optional.empty(), 0, 0, 0, 0, 0),
                new LivenessEvent.ForensicsCollected(RUN, 1234),
                new LivenessEvent.Restarted(RUN, TASK, "unresponsive", RUN, sandbox, true, false),
                new LivenessEvent.Quarantined(RUN, TASK, "restarted 3 times within 30 minutes", at),
                new LivenessEvent.TerminatedIdle(RUN, TASK, at, Duration.ofMinutes(31)));
    }

    private static List<EventBody> tasks() {
        var samples = new ArrayList<EventBody>();
        for (Task.Status status : Task.Status.values()) {
            samples.add(new TaskEvent.Changed(
                    TASK,
                    status,
                    "Fix it",
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty()));
        }
        samples.add(new TaskEvent.Changed(
                TASK,
                Task.Status.RETRYING,
                "Fix it",
                Optional.of(2),
                Optional.of(RUN),
                Optional.of("out of memory"),
                Optional.of(TaskError.Kind.TRANSIENT),
                Optional.of(Instant.parse("2026-01-08T10:00:00Z"))));
        samples.add(new TaskEvent.Stuck(List.of(TASK), 2, "it failed", Optional.empty()));
        samples.add(new TaskEvent.Stuck(List.of(TASK), 2, "it failed", Optional.of(TASK)));
        return samples;
    }

    private static List<EventBody> git() {
        return List.of(
                new GitEvent.Cloned(
                        RUN, "https://git.example.com/team/shop", "main", "feature/T-1", Duration.ofSeconds(2)),
                new GitEvent.Pushed(RUN, "feature/T-1", "ab12"),
                new GitEvent.PullRequested(RUN, "feature/T-1", 7, "https://git.example.com/team/shop/pulls/7"),
                new GitEvent.Failed(RUN, "feature/T-1", "git.example.com refused the request"));
    }

    private static List<EventBody> reviews() {
        return List.of(
                new ReviewEvent.Requested(
                        REVIEW,
                        TASK,
                        "deploy",
                        "May I?",
                        "{\"options\":[{\"id\":\"later\"}]}",
                        true,
                        Instant.parse("2026-01-01T10:00:00Z")),
                new ReviewEvent.Answered(REVIEW, "later", Optional.of("tomorrow"), ANN),
                new ReviewEvent.Answered(REVIEW, "reject", Optional.empty(), ANN),
                new ReviewEvent.Expired(REVIEW, Instant.parse("2026-01-01T10:00:00.123Z"), Optional.empty()),
                new ReviewEvent.Expired(
                        REVIEW, Instant.parse("2026-01-01T10:00:00.123Z"), Optional.of(ReviewPolicy.OnTimeout.APPROVE)),
                new ReviewEvent.Reminder(REVIEW, Instant.parse("2026-01-01T10:00:00.123Z")),
                new ReviewEvent.Escalated(REVIEW, Instant.parse("2026-01-01T10:00:00.123Z")));
    }

    private static List<EventBody> messages() {
        return List.of(
                message(Message.Kind.USER_MESSAGE, Message.Mode.IMMEDIATE),
                message(Message.Kind.INTERRUPT, Message.Mode.IMMEDIATE),
                message(Message.Kind.GUARDIAN_NUDGE, Message.Mode.IMMEDIATE),
                message(Message.Kind.SYSTEM, Message.Mode.IMMEDIATE),
                message(Message.Kind.GUIDANCE, Message.Mode.NEXT_TURN),
                new MessageEvent.Delivered("msg1", Message.Kind.GUIDANCE, Duration.ofMillis(40)));
    }

    private static List<EventBody> alerts() {
        return List.of(
                new AlertEvent.AnomalyDetected(
                        "runtime claude, agent type coder",
                        "duration_seconds",
                        5400,
                        312.5,
                        6.25,
                        40,
                        Optional.of(RUN),
                        Optional.of(TASK)),
                new AlertEvent.AnomalyDetected(
                        "user ann", "creations_per_minute", 60, 1.5, 9, 300, Optional.empty(), Optional.empty()),
                new AlertEvent.WebhookDead(
                        new WebhookId("whkaaaaaaaaaaaaaaaaaaaa"),
                        new DeliveryId("whdaaaaaaaaaaaaaaaaaaaa"),
                        "task.completed",
                        12,
                        "the receiver answered with status 500"));
    }

    private static EventBody message(Message.Kind kind, Message.Mode mode) {
        return new MessageEvent.Posted("msg1", kind, "hello", mode);
    }

    private static List<EventBody> guards() {
        var pattern = new GuardianEvent.Pattern("repeated_failure", "`make` failed 5 times", List.of(3L, 9L));
        var overlap = new ConductorEvent.Overlap(
                ConductorEvent.Kind.CONFLICT, RUN, RUN, "both runs change 1 of the same files", List.of("a.py"));
        return List.of(
                new GuardianEvent.Found(RUN, TASK, pattern, GuardianEvent.Action.NONE),
                new GuardianEvent.Found(RUN, TASK, pattern, GuardianEvent.Action.NUDGE),
                new GuardianEvent.Found(RUN, TASK, pattern, GuardianEvent.Action.PAUSE),
                new GuardianEvent.Found(RUN, TASK, pattern, GuardianEvent.Action.STOP),
                new GuardianEvent.Outcome(RUN, TASK, pattern, true),
                new GuardianEvent.Judged(RUN, TASK, new Judgement(0.25, Judgement.State.ON_TRACK, "Go on.", 0.5)),
                new ConductorEvent.Report(3, 0.33, List.of(overlap)));
    }

    private static List<EventBody> workers() {
        return List.of(
                new WorkerEvent.ToolUsed(),
                new WorkerEvent.UsageReported(1, 2, new BigDecimal("0.25")),
                new WorkerEvent.ConversationNamed("c1"),
                new WorkerEvent.Completed("done"),
                new WorkerEvent.Failed("no access", Optional.empty(), Optional.empty()),
                new WorkerEvent.Failed("no access", Optional.of("model_error"), Optional.of(new BigDecimal("0.5"))),
                new EventBody.Custom("note.added", "{\"a\": [1]}"));
    }
}
