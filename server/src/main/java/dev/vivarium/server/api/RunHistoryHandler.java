package dev.vivarium.server.api;

import static dev.vivarium.json.JsonType.LONG;
import static dev.vivarium.json.JsonType.RAW_OBJECT;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.server.http.Route.Access.KEY;

import dev.vivarium.core.run.RunFilter;
import dev.vivarium.json.IdTypes;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.ObjectType;
import dev.vivarium.json.RunJson;
import dev.vivarium.json.RunJson.RunEntry;
import dev.vivarium.model.Run;
import dev.vivarium.server.feed.VisibleEvent;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.operation.CancelRun;
import dev.vivarium.server.operation.EventSize;
import dev.vivarium.server.operation.RunHistory;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/// `GET /api/v1/runs`, `GET …/runs/{run_id}` and `POST …/cancel`: the runs of all sandboxes. Thread-safe.
public final class RunHistoryHandler {
    private static final ObjectType<ListPage<RunEntry>> RUNS = ListPage.type("Runs", "runs", RunJson.RUN_ENTRY);

    private static final ObjectType<Conversation> TRANSCRIPT = object(
            "",
            field(
                    "after_seq",
                    LONG,
                    "The event that started the run.",
                    conversation -> conversation.transcript().afterSeq()),
            optional(
                    "until_seq",
                    LONG,
                    "The event that ended the run.",
                    conversation -> conversation.transcript().untilSeq()),
            field("events", JsonType.list(VisibleEvent.EVENT), Conversation::events));

    private record Conversation(RunHistory.Transcript transcript, List<VisibleEvent> events) {}

    private static final ObjectType<RunHistory.Details> RUN_RECORD = RunJson.RUN_ENTRY
            .<RunHistory.Details>over(details -> new RunEntry(
                    details.run(), details.task().map(task -> task.wanted().title()), details.task()))
            .and(
                    "RunRecord",
                    object(
                            "",
                            optional("result", RAW_OBJECT, "The result of this run.", RunHistory.Details::result),
                            optional("transcript", TRANSCRIPT, """
                                    The conversation of the agent: the last events of the run. The event log has all \
                                    of them, between `after_seq` and `until_seq`. Absent if the log has been \
                                    deleted.""", RunHistoryHandler::conversation)));

    private static final JsonType<Run.Status> STATUS = JsonType.constants(
            Run.Status.class, Run.Status::text, "must be creating, running, paused, completed, failed or terminated");

    public static final RouteDescription LIST = RouteDescription.get("/api/v1/runs", KEY)
            .named("listRunHistory", "List runs, also earlier ones")
            .text("Returns the runs of the caller, newest first, also of sandboxes that have ended.")
            .query("thread_id", STRING, "Only runs in this thread.")
            .query("task_id", STRING, "Only runs on this task.")
            .query("status", STATUS, "Only runs with this status.")
            .query("limit", PageQuery.LIMIT, "Maximum number of entries.")
            .query("cursor", STRING, ListPage.CURSOR_TEXT)
            .answers(200, "A page of runs.", RUNS);

    public static final RouteDescription GET = RouteDescription.get("/api/v1/runs/{run_id}", KEY)
            .named("getRun", "Find a run with its result and its conversation")
            .answers(200, "The run.", RUN_RECORD)
            .fails(404);

    public static final RouteDescription CANCEL = RouteDescription.post("/api/v1/runs/{run_id}/cancel", KEY)
            .named("cancelRun", "Stop a run and keep its sandbox")
            .text("""
                    Asks the worker to exit, and kills it and its processes after 15 seconds. The run then has the \
                    status `failed` and the reason code `aborted`.""")
            .answers(202, "The run ends.", RunJson.RUN_ENTRY)
            .fails(403, 404, 409);

    private static final int MAX_PAGE = 1000;

    private final RunHistory history;
    private final CancelRun cancel;

    public RunHistoryHandler(RunHistory history, CancelRun cancel) {
        this.history = history;
        this.cancel = cancel;
    }

    public void list(Exchange exchange) throws IOException {
        int limit = PageQuery.limit(exchange, MAX_PAGE);
        var filter = new RunFilter(
                Optional.empty(),
                exchange.optionalQuery("thread_id", IdTypes.THREAD_ID),
                exchange.optionalQuery("task_id", IdTypes.TASK_ID),
                exchange.optionalQuery("status", STATUS),
                PageQuery.cursor(exchange),
                limit + 1);
        var found = history.list(exchange.principal(), filter);
        ListPage<Run> page = ListPage.of(found, limit, RunFilter::place);
        var titles = history.titles(page.entries());
        exchange.answer(
                200,
                RUNS,
                page.map(run -> new RunEntry(run, Optional.ofNullable(titles.get(run.task())), Optional.empty())));
    }

    public void get(Exchange exchange) throws IOException {
        var details = history.get(exchange.principal(), exchange.path("run_id"));
        details.transcript().ifPresent(transcript -> exchange.reserve(EventSize.of(transcript.events())));
        exchange.answer(200, RUN_RECORD, details);
    }

    public void cancel(Exchange exchange) throws IOException {
        Run run = cancel.cancel(exchange.principal(), exchange.path("run_id"), CANCEL.route());
        exchange.answer(202, RunJson.RUN_ENTRY, new RunEntry(run, Optional.empty(), Optional.empty()));
    }

    private static Optional<Conversation> conversation(RunHistory.Details details) {
        return details.transcript()
                .map(transcript -> new Conversation(
                        transcript,
                        transcript.events().stream()
                                .map(event -> VisibleEvent.of(event, details.scopes()))
                                .toList()));
    }
}
