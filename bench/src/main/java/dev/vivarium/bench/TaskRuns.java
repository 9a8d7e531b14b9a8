package dev.vivarium.bench;

import dev.vivarium.bench.Report.Row;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Tasks of the queue: the time from ready to the start of the run, and the rate of trivial tasks with its profile.
final class TaskRuns implements Measurement {
    private static final double MAX_MILLIS = 300;
    private static final double FEWEST_PER_SECOND = 5;
    private static final int WARM_UP = 20;

    /// Duration of a tick of `/proc/PID/stat` and `/proc/stat`.
    private static final double TICK_MILLIS = 10;

    private static final String TASKS = "/api/v1/tasks";
    private static final String TASK = "{\"title\":\"trivial\",\"runtime\":\"command\",\"command\":[\"true\"]}";

    @Override
    public void run(Bench bench, Report report) {
        var settings = Map.of("POOL_SIZE", "4", "VIV_MAX_SANDBOXES", "64", "VIV_MAX_RUNNING_TASKS", "8");
        try (var server = bench.startServer(settings);
                var caller = server.connect()) {
            measureStart(bench, caller, report);
            measureRate(bench, server, caller, report);
        }
    }

    /// One task at a time, so that capacity is free.
    private static void measureStart(Bench bench, Http caller, Report report) {
        long seen = 0;
        var samples = new Samples();
        for (int round = -WARM_UP; round < bench.rounds(100); round++) {
            if (round == 0) {
                samples.clear();
                Quiet.await();
            }
            String id = caller.post(TASKS, TASK).expect(201).member("task_id");
            awaitAll(caller, List.of(id));
            List<JsonFields> events = events(caller, seen);
            seen = events.getLast().integer("seq");
            samples.add(Duration.between(at(events, "task.ready"), at(events, "task.running"))
                    .toNanos());
        }
        double p95 = samples.percentile(95);
        report.add(Row.of("task: ready -> run started", samples)
                .held("p95 <= 300 ms: " + Report.number(p95), p95 <= MAX_MILLIS));
    }

    private static void measureRate(Bench bench, VivServer server, Http caller, Report report) {
        int count = bench.rounds(200);
        Quiet.await();
        long seen = events(caller, 0).getLast().integer("seq");
        long serverBefore = serverTicks(server.pid());
        long allBefore = busyTicks();
        long start = System.nanoTime();
        List<String> ids = addGraph(caller, count);
        awaitAll(caller, ids);
        double seconds = (System.nanoTime() - start) / 1e9;
        double serverMillis = (serverTicks(server.pid()) - serverBefore) * TICK_MILLIS / count;
        double allMillis = (busyTicks() - allBefore) * TICK_MILLIS / count;
        report.add(Row.rate("task: trivial tasks, 8 at a time", "/s", count / seconds)
                .held(">= 5/s", count / seconds >= FEWEST_PER_SECOND));
        report.add(Row.of("task: CPU of the server for each", "ms", serverMillis));
        report.add(Row.of("task: CPU of sandboxes and kernel for each", "ms", allMillis - serverMillis));
        addPhases(report, phases(caller, seen));
    }

    private static List<String> addGraph(Http caller, int count) {
        var tasks = String.join(",", Collections.nCopies(count, TASK));
        return Json.answer(caller.post(TASKS + "/graph", "{\"tasks\":[" + tasks + "]}")
                        .expect(201)
                        .text())
                .objects("tasks")
                .stream()
                .map(task -> task.string("task_id"))
                .toList();
    }

    private static void awaitAll(Http caller, List<String> ids) {
        for (String id : ids) {
            String status = "";
            while (!status.equals("completed")) {
                status = Json.answer(caller.get(TASKS + "/" + id).expect(200).text())
                        .string("status");
                if (status.equals("failed")) {
                    throw new IllegalStateException("task " + id + " failed");
                }
                if (!status.equals("completed")) {
                    Programs.pause(Duration.ofMillis(20));
                }
            }
        }
    }

    private static List<JsonFields> events(Http caller, long after) {
        var all = new ArrayList<JsonFields>();
        long last = after;
        while (true) {
            var page = Json.answer(caller.get(TASKS + "/events?limit=1000&after_seq=" + last)
                            .expect(200)
                            .text())
                    .objects("events");
            if (page.isEmpty()) {
                return all;
            }
            all.addAll(page);
            last = page.getLast().integer("seq");
        }
    }

    private static Instant at(List<JsonFields> events, String type) {
        return events.stream()
                .filter(event -> event.string("event_type").equals(type))
                .findFirst()
                .orElseThrow()
                .time("created_at");
    }

    /// Times of the phases of tasks: start of the run, and the run itself.
    private record Phases(Samples start, Samples work) {}

    private static Phases phases(Http caller, long after) {
        Map<String, Instant> last = new HashMap<>();
        var phases = new Phases(new Samples(), new Samples());
        for (JsonFields event : events(caller, after)) {
            String id = event.object("event_data").string("task_id");
            Instant at = event.time("created_at");
            Instant before = last.put(id, at);
            if (before != null) {
                long nanos = Duration.between(before, at).toNanos();
                switch (event.string("event_type")) {
                    case "task.running" -> phases.start.add(nanos);
                    case "task.completed" -> phases.work.add(nanos);
                    default -> {}
                }
            }
        }
        return phases;
    }

    private static void addPhases(Report report, Phases phases) {
        report.add(Row.of("task: assigned -> running, 8 at a time", phases.start));
        report.add(Row.of("task: running -> completed, 8 at a time", phases.work));
    }

    /// Returns the processor time of the server, in ticks.
    private static long serverTicks(long pid) {
        String text = Processes.read(Path.of("/proc", Long.toString(pid)), "stat");
        String[] fields = text.substring(text.lastIndexOf(')') + 2).split(" ");
        return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
    }

    /// Returns the processor time of all processes and the kernel, in ticks.
    private static long busyTicks() {
        try (var lines = Files.lines(Path.of("/proc/stat"))) {
            String[] fields = lines.findFirst().orElseThrow().trim().split("\\s+");
            long busy = 0;
            for (int i = 1; i < Math.min(fields.length, 9); i++) {
                boolean isIdle = i == 4 || i == 5;
                busy += isIdle ? 0 : Long.parseLong(fields[i]);
            }
            return busy;
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
