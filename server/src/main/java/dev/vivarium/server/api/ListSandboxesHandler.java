package dev.vivarium.server.api;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Rights;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.run.Reviews;
import dev.vivarium.core.run.Runs;
import dev.vivarium.core.run.Tasks;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.core.watch.UsageSample;
import dev.vivarium.core.watch.Watchers;
import dev.vivarium.json.Json;
import dev.vivarium.json.RunJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.TaskId;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import tools.jackson.core.JsonGenerator;

/// `GET /api/v1/sandboxes`: all sandboxes that the caller may see, with what runs in them and what they use. No sandbox
/// is asked for anything: what is not known without that is left out. Thread-safe.
public final class ListSandboxesHandler {
    private static final int MOST = 1000;

    private final Sandboxes sandboxes;
    private final Runs runs;
    private final Tasks tasks;
    private final Reviews reviews;
    private final Rights rights;
    private final Watchers watching;

    public ListSandboxesHandler(
            Sandboxes sandboxes, Runs runs, Tasks tasks, Reviews reviews, Rights rights, Watchers watching) {
        this.sandboxes = sandboxes;
        this.runs = runs;
        this.tasks = tasks;
        this.reviews = reviews;
        this.rights = rights;
        this.watching = watching;
    }

    /// How much of a sandbox somebody sees.
    private enum Role {
        OWNER("owner"),
        /// Invited, and may watch.
        MEMBER("member"),
        /// Invited to something else: sees that it is there.
        VISITOR("member");

        private final String text;

        Role(String text) {
            this.text = text;
        }
    }

    /// A sandbox with the newest of its runs, if it has had any that the caller may see.
    private record Entry(SandboxInfo sandbox, Optional<Run> run, Role role) {
        /// Newest first; of those of one moment always in the same order, so that pages fit together.
        static final Comparator<Entry> NEWEST =
                Comparator.comparing(Entry::place).reversed();

        String status() {
            return RunJson.status(sandbox, run);
        }

        Place place() {
            return new Place(sandbox.createdAt().toEpochMilli(), sandbox.id().value());
        }
    }

    /// Where a sandbox stands in the list, and with that where a page ended.
    private record Place(long millis, String id) implements Comparable<Place> {
        private static final Comparator<Place> ORDER =
                Comparator.comparingLong(Place::millis).thenComparing(Place::id);

        static Place of(String cursor) {
            int dash = cursor.indexOf('-');
            try {
                return new Place(Long.parseLong(cursor.substring(0, Math.max(0, dash))), cursor.substring(dash + 1));
            } catch (NumberFormatException e) {
                throw new SandboxException(
                        new Failure.InvalidRequest("cursor", "must be the next_cursor of a page before"), e);
            }
        }

        String cursor() {
            return millis + "-" + id;
        }

        @Override
        public int compareTo(Place other) {
            return ORDER.compare(this, other);
        }
    }

    public void handle(Exchange exchange) throws IOException {
        exchange.allowQuery("status", "task_id", "runs", "ended", "limit", "cursor");
        int limit = PageQuery.limit(exchange, MOST);
        var all = wanted(exchange).sorted(Entry.NEWEST).limit(limit + 1L).toList();
        var page = all.subList(0, Math.min(limit, all.size()));
        var titles = tasks.titles(page.stream()
                .flatMap(entry -> entry.run().map(Run::task).stream())
                .toList());
        var pending = reviews.pending();
        exchange.answer(200, out -> {
            out.writeArrayPropertyStart("sandboxes");
            for (Entry entry : page) {
                out.writeStartObject();
                write(out, entry, titles, pending.getOrDefault(entry.sandbox().id(), 0));
                out.writeEndObject();
            }
            out.writeEndArray();
            if (all.size() > limit) {
                out.writeStringProperty("next_cursor", page.getLast().place().cursor());
            }
        });
    }

    private Stream<Entry> wanted(Exchange exchange) {
        var status = exchange.optionalQuery("status").map(ListSandboxesHandler::status);
        var task = exchange.optionalQuery("task_id").map(TaskId::new);
        boolean isWithEnded = QueryFlags.of(exchange, "ended", false);
        boolean isRunsOnly = isRunsOnly(exchange);
        Optional<Place> after = exchange.optionalQuery("cursor").map(Place::of);
        var found = living(exchange.principal());
        if (isWithEnded) {
            addEnded(exchange.principal(), found);
        }
        if (isWithEnded || status.isPresent() || task.isPresent()) {
            addEndedRuns(exchange.principal(), task, found);
        }
        return found.values().stream()
                .filter(entry ->
                        status.filter(word -> !word.equals(entry.status())).isEmpty())
                .filter(entry -> task.isEmpty() || entry.run().map(Run::task).equals(task))
                .filter(entry -> !isRunsOnly || entry.run().isPresent())
                .filter(entry -> after.filter(place -> entry.place().compareTo(place) >= 0)
                        .isEmpty());
    }

    private static boolean isRunsOnly(Exchange exchange) {
        return switch (exchange.optionalQuery("runs").orElse("all")) {
            case "all" -> false;
            case "only" -> true;
            default -> throw new SandboxException(new Failure.InvalidRequest("runs", "must be all or only"));
        };
    }

    private static String status(String word) {
        return Run.Status.find(word)
                .map(Run.Status::text)
                .orElseThrow(() -> new SandboxException(new Failure.InvalidRequest(
                        "status", "must be creating, running, paused, completed, failed or terminated")));
    }

    /// The caller's sandboxes that live, and those of threads that they were invited to.
    private Map<SandboxId, Entry> living(Principal caller) {
        var newest = new HashMap<SandboxId, Run>();
        runs.ofLiving().forEach(run -> newest.putIfAbsent(run.sandbox(), run));
        var entries = new HashMap<SandboxId, Entry>();
        for (SandboxInfo info : sandboxes.list()) {
            role(caller, info).ifPresent(role -> {
                Optional<Run> run = Optional.ofNullable(newest.get(info.id())).filter(_ -> role != Role.VISITOR);
                entries.put(info.id(), new Entry(info, run, role));
            });
        }
        return entries;
    }

    private Optional<Role> role(Principal caller, SandboxInfo info) {
        if (caller.mayActFor(info.user())) {
            return Optional.of(Role.OWNER);
        }
        Optional<Scopes> scopes = rights.of(caller, new Rights.Target(info.id(), info.thread(), info.user()));
        return scopes.map(allowed -> allowed.allows(Scope.SHELL_RO) ? Role.MEMBER : Role.VISITOR);
    }

    /// Those that have ended are their owner's alone.
    private void addEnded(Principal caller, Map<SandboxId, Entry> entries) {
        for (SandboxInfo info : sandboxes.newestEnded(caller.user(), MOST)) {
            entries.putIfAbsent(info.id(), new Entry(info, Optional.empty(), Role.OWNER));
        }
    }

    private void addEndedRuns(Principal caller, Optional<TaskId> task, Map<SandboxId, Entry> entries) {
        for (Run run : runs.newest(caller.user(), task, MOST)) {
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

    private void write(JsonGenerator out, Entry entry, Map<TaskId, String> titles, int pending) {
        RunJson.write(out, entry.sandbox(), entry.run(), Optional.empty());
        out.writeStringProperty("role", entry.role().text);
        entry.run()
                .flatMap(run -> Optional.ofNullable(titles.get(run.task())))
                .ifPresent(title -> out.writeStringProperty("task_title", title));
        if (entry.role() != Role.VISITOR) {
            out.writeNumberProperty("pending_reviews", pending);
            watching.reading(entry.sandbox().id()).ifPresent(reading -> write(out, reading));
        }
    }

    private static void write(JsonGenerator out, UsageSample reading) {
        out.writeObjectPropertyStart("metrics");
        Json.time(out, "at", reading.at());
        out.writeNumberProperty("cpu_percent", reading.cpuPercent());
        out.writeNumberProperty("memory_bytes", reading.memoryBytes());
        out.writeEndObject();
    }
}
