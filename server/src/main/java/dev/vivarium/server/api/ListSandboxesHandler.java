package dev.vivarium.server.api;

import static dev.vivarium.json.JsonType.BOOLEAN;
import static dev.vivarium.json.JsonType.INT;
import static dev.vivarium.json.JsonType.LONG;
import static dev.vivarium.json.JsonType.NUMBER;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.TIME;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.server.http.Route.Access.KEY;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Rights;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.run.Reviews;
import dev.vivarium.core.run.RunFilter;
import dev.vivarium.core.run.Runs;
import dev.vivarium.core.run.Tasks;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.core.watch.UsageSample;
import dev.vivarium.core.watch.Watchers;
import dev.vivarium.json.ObjectType;
import dev.vivarium.json.RunJson;
import dev.vivarium.model.ListPlace;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.TaskId;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import java.io.IOException;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/// `GET /api/v1/sandboxes`: the sandboxes that the caller may see, with their runs and their resource usage. The
/// handler does not contact a sandbox, so unknown values are absent. Thread-safe.
public final class ListSandboxesHandler {
    private static final ObjectType<UsageSample> METRICS = object(
            "",
            field("at", TIME, UsageSample::at),
            field("cpu_percent", NUMBER, "Percent of one processor.", UsageSample::cpuPercent),
            field("memory_bytes", LONG, UsageSample::memoryBytes));

    static final ObjectType<Line> SANDBOX = RunJson.SANDBOX
            .over(Line::view)
            .and(
                    "RunSandbox",
                    object(
                            "",
                            optional("role", STRING.with("enum", List.of("owner", "member")), """
                                    In lists: the role of the caller. A member who may not watch the sandbox sees \
                                    neither its run nor its resource usage.""", Line::role),
                            optional("task_title", STRING, "In lists: the title of the task.", Line::title),
                            optional("preview_url", STRING, "The address of a port of the sandbox.", Line::previewUrl),
                            optional(
                                    "last_event_at",
                                    TIME,
                                    "Not in lists: the time of the newest event.",
                                    Line::lastEvent),
                            optional(
                                    "pending_reviews",
                                    INT,
                                    "In lists: the number of pending reviews.",
                                    Line::pendingReviews),
                            optional(
                                    "metrics",
                                    METRICS,
                                    "In lists: the last measured resource usage since the server started.",
                                    Line::metrics)));
    private static final ObjectType<ListPage<Line>> SANDBOXES = ListPage.type("RunSandboxes", "sandboxes", SANDBOX);

    /// A sandbox as responses show it. Only lists have the fields from `role` to `metrics`.
    record Line(
            RunJson.View view,
            Optional<String> role,
            Optional<String> title,
            Optional<Integer> pendingReviews,
            Optional<UsageSample> metrics,
            Optional<String> previewUrl,
            Optional<Instant> lastEvent) {
        static Line of(RunJson.View view, String previewUrl, Optional<Instant> lastEvent) {
            return new Line(
                    view,
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.of(previewUrl),
                    lastEvent);
        }
    }

    public static final RouteDescription LIST = RouteDescription.get("/api/v1/sandboxes", KEY)
            .named("listRuns", "List sandboxes, their runs and their resource usage")
            .text("""
                    Returns live sandboxes of the caller and of threads that the caller is a member of. With \
                    `ended`, `status` or `task_id` it also returns ended sandboxes of the caller. Newest first. \
                    The call does not contact any sandbox.""")
            .query("status", RunJson.STATUS, "Only entries with this status.")
            .query("task_id", STRING, "Only sandboxes of this task.")
            .query(
                    "runs",
                    STRING.with("enum", List.of("all", "only")).with("default", "all"),
                    "`only`: only sandboxes that have had a run.")
            .query(
                    "ended",
                    BOOLEAN.with("default", false),
                    "Also ended sandboxes. Of those without a run, the newest 1000.")
            .query("limit", PageQuery.LIMIT, "Maximum number of entries.")
            .query("cursor", STRING, ListPage.CURSOR_TEXT)
            .answers(200, "A page of sandboxes.", SANDBOXES);

    private static final int MAX_PAGE = 1000;

    private final Sandboxes sandboxes;
    private final Runs runs;
    private final Tasks tasks;
    private final Reviews reviews;
    private final Rights rights;
    private final Watchers watching;
    private final Endpoints endpoints;

    public ListSandboxesHandler(
            Sandboxes sandboxes,
            Runs runs,
            Tasks tasks,
            Reviews reviews,
            Rights rights,
            Watchers watching,
            Endpoints endpoints) {
        this.sandboxes = sandboxes;
        this.runs = runs;
        this.tasks = tasks;
        this.reviews = reviews;
        this.rights = rights;
        this.watching = watching;
        this.endpoints = endpoints;
    }

    /// Visibility of a sandbox for the caller.
    private enum Role {
        OWNER("owner"),
        /// A member who may watch the sandbox.
        MEMBER("member"),
        /// A member without the scope to watch: sees only that the sandbox exists.
        UNPRIVILEGED_MEMBER("member");

        private final String text;

        Role(String text) {
            this.text = text;
        }
    }

    /// A sandbox with its newest run, if it has one that the caller may see.
    private record Entry(SandboxInfo sandbox, Optional<Run> run, Role role) {
        /// Newest first, and a total order, so that pages do not overlap.
        static final Comparator<Entry> NEWEST =
                Comparator.comparing(Entry::place).reversed();

        String status() {
            return RunJson.status(sandbox, run);
        }

        ListPlace place() {
            return ListPlace.of(sandbox.createdAt(), sandbox.id().value());
        }
    }

    public void handle(Exchange exchange) throws IOException {
        int limit = PageQuery.limit(exchange, MAX_PAGE);
        var all = wanted(exchange).sorted(Entry.NEWEST).limit(limit + 1L).toList();
        ListPage<Entry> page = ListPage.of(all, limit, Entry::place);
        var titles = tasks.titles(page.entries().stream()
                .flatMap(entry -> entry.run().map(Run::task).stream())
                .toList());
        var pending = reviews.pending();
        exchange.answer(
                200,
                SANDBOXES,
                page.map(entry -> line(
                        exchange,
                        entry,
                        titles,
                        pending.getOrDefault(entry.sandbox().id(), 0))));
    }

    private Stream<Entry> wanted(Exchange exchange) {
        var status = exchange.optionalQuery("status", RunJson.STATUS);
        var task = exchange.optionalQuery("task_id").map(TaskId::new);
        boolean isWithEnded = QueryFlags.of(exchange, "ended", false);
        boolean isRunsOnly = isRunsOnly(exchange);
        Optional<ListPlace> after = PageQuery.cursor(exchange);
        var found = liveSandboxes(exchange.principal());
        if (isWithEnded) {
            addEnded(exchange.principal(), found);
        }
        if (isWithEnded || status.isPresent()) {
            addEndedRuns(exchange.principal(), found);
        }
        return task.map(id -> ofTask(exchange.principal(), id, found)).orElse(found).values().stream()
                .filter(entry ->
                        status.filter(word -> !word.equals(entry.status())).isEmpty())
                .filter(entry -> !isRunsOnly || entry.run().isPresent())
                .filter(entry -> after.filter(place -> entry.place().compareTo(place) >= 0)
                        .isEmpty());
    }

    private static boolean isRunsOnly(Exchange exchange) {
        return switch (exchange.optionalQuery("runs").orElse("all")) {
            case "all" -> false;
            case "only" -> true;
            default -> throw SandboxException.invalid("runs", "must be all or only");
        };
    }

    /// Returns the live sandboxes of the caller, and those of threads that the caller is a member of.
    private Map<SandboxId, Entry> liveSandboxes(Principal caller) {
        var newest = new HashMap<SandboxId, Run>();
        runs.ofLiveSandboxes().forEach(run -> newest.putIfAbsent(run.sandbox(), run));
        var entries = new HashMap<SandboxId, Entry>();
        for (SandboxInfo info : sandboxes.list()) {
            role(caller, info).ifPresent(role -> {
                Optional<Run> run =
                        Optional.ofNullable(newest.get(info.id())).filter(_ -> role != Role.UNPRIVILEGED_MEMBER);
                entries.put(info.id(), new Entry(info, run, role));
            });
        }
        return entries;
    }

    private Optional<Role> role(Principal caller, SandboxInfo info) {
        if (caller.mayActFor(info.user())) {
            return Optional.of(Role.OWNER);
        }
        Optional<Scopes> scopes = rights.of(caller, new Rights.Target(info.id(), info.key()));
        return scopes.map(allowed -> allowed.allows(Scope.SHELL_RO) ? Role.MEMBER : Role.UNPRIVILEGED_MEMBER);
    }

    /// Only the owner sees ended sandboxes.
    private void addEnded(Principal caller, Map<SandboxId, Entry> entries) {
        for (SandboxInfo info : sandboxes.newestEnded(caller.user(), MAX_PAGE)) {
            entries.putIfAbsent(info.id(), new Entry(info, Optional.empty(), Role.OWNER));
        }
    }

    private static RunFilter ofCaller(Principal caller, Optional<TaskId> task) {
        return new RunFilter(caller.user(), Optional.empty(), task, Optional.empty(), Optional.empty(), MAX_PAGE);
    }

    /// Returns the sandboxes of the runs on one task. Each has its newest run on that task, even if a later run of
    /// the sandbox is on another one.
    private Map<SandboxId, Entry> ofTask(Principal caller, TaskId task, Map<SandboxId, Entry> live) {
        var entries = new HashMap<SandboxId, Entry>();
        live.values().stream()
                .filter(entry -> entry.run().map(Run::task).equals(Optional.of(task)))
                .forEach(entry -> entries.put(entry.sandbox().id(), entry));
        for (Run run : runs.list(ofCaller(caller, Optional.of(task)))) {
            Optional.ofNullable(live.get(run.sandbox()))
                    .map(Entry::sandbox)
                    .or(() -> sandboxes.findEnded(run.sandbox()))
                    .ifPresent(info -> entries.putIfAbsent(info.id(), new Entry(info, Optional.of(run), Role.OWNER)));
        }
        return entries;
    }

    private void addEndedRuns(Principal caller, Map<SandboxId, Entry> entries) {
        for (Run run : runs.list(ofCaller(caller, Optional.empty()))) {
            Optional<Entry> known = Optional.ofNullable(entries.get(run.sandbox()));
            if (known.filter(entry ->
                            entry.run().isPresent() || !entry.sandbox().status().isFinal())
                    .isEmpty()) {
                known.map(Entry::sandbox)
                        .or(() -> sandboxes.findEnded(run.sandbox()))
                        .ifPresent(info -> entries.put(info.id(), new Entry(info, Optional.of(run), Role.OWNER)));
            }
        }
    }

    private Line line(Exchange exchange, Entry entry, Map<TaskId, String> titles, int pending) {
        boolean mayWatch = entry.role() != Role.UNPRIVILEGED_MEMBER;
        return new Line(
                new RunJson.View(entry.sandbox(), entry.run(), Optional.empty()),
                Optional.of(entry.role().text),
                entry.run().flatMap(run -> Optional.ofNullable(titles.get(run.task()))),
                mayWatch ? Optional.of(pending) : Optional.empty(),
                mayWatch ? watching.reading(entry.sandbox().id()) : Optional.empty(),
                Optional.of(endpoints.preview(exchange, entry.sandbox().id())),
                Optional.empty());
    }
}
