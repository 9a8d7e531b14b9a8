package dev.vivarium.bench;

import dev.vivarium.bench.Report.Row;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Latency from an append call to the event on another client's WebSocket.
///
/// The load is 500 events per second over 50 sandboxes with one watcher each. The baseline is the same load without
/// watchers.
final class LogLatency implements Measurement {
    private static final int SANDBOXES = 50;
    private static final int CALLERS = 10;
    private static final Duration INTERVAL = Duration.ofSeconds(1).dividedBy(500);
    private static final double MAX_MILLIS = 20;

    @Override
    public void run(Bench bench, Report report) {
        try (var server = bench.startServer(Map.of("POOL_SIZE", "0", "VIV_MAX_SANDBOXES", "100"))) {
            List<String> sandboxes = server.createAll("log-", SANDBOXES);
            int turns = bench.rounds(1_000);
            append(server, sandboxes, turns);
            Quiet.await();
            var alone = append(server, sandboxes, turns);
            var seen = new Samples();
            Crowd.Result watched = watched(server, sandboxes, turns, seen);
            boolean all = seen.count() == CALLERS * turns && watched.failures().isEmpty();
            report.add(Row.of("append, 500/s over 50 sandboxes", alone.samples()));
            report.add(Row.of("the same while each is watched", watched.samples()));
            report.add(Row.of("append -> on another WebSocket", seen)
                    .besideBare(alone.samples().p50())
                    .held("p99 at most 20 ms", seen.p99() <= MAX_MILLIS)
                    .held("all seen (" + seen.count() + ")", all));
        }
    }

    private static Crowd.Result watched(VivServer server, List<String> sandboxes, int turns, Samples seen) {
        var watchers = new ArrayList<Watcher>();
        for (String sandbox : sandboxes) {
            watchers.add(Watcher.open(server, sandbox));
        }
        var result = append(server, sandboxes, turns);
        for (Watcher watcher : watchers) {
            watcher.awaitAndClose(CALLERS * turns / SANDBOXES);
            seen.add(watcher.samples());
        }
        return result;
    }

    /// Each event contains the start time of its call.
    private static Crowd.Result append(VivServer server, List<String> sandboxes, int turns) {
        return Crowd.paced(
                CALLERS,
                turns,
                INTERVAL,
                caller -> new Caller(server.connect(), (http, turn) -> {
                    String sandbox = sandboxes.get((turn * CALLERS + caller) % SANDBOXES);
                    http.post(
                                    "/api/v1/sandboxes/" + sandbox + "/events",
                                    "{\"event_type\":\"bench.step\",\"event_data\":{\"at\":" + System.nanoTime() + "}}")
                            .expect(201);
                }));
    }
}
