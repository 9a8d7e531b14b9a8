package dev.vivarium.bench;

import dev.vivarium.bench.Report.Row;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/// Repeated delivery of one event to 1,000 watchers. All must receive it, and the server's heap must not grow.
final class LogFanOut implements Measurement {
    private static final int WATCHERS = 1_000;

    /// Normal variation of the live heap between two collections.
    private static final double NOISE_MIB = 4;

    private static final Pattern USED = Pattern.compile("used (\\d+)K");

    @Override
    public void run(Bench bench, Report report) {
        try (var server = bench.startServer(Map.of("POOL_SIZE", "0"));
                var http = server.connect()) {
            String sandbox = VivServer.create(http, "fan-out");
            var watchers = new ArrayList<Watcher>();
            for (int i = 0; i < WATCHERS; i++) {
                watchers.add(Watcher.open(server, sandbox));
            }
            int rounds = bench.rounds(60);
            show(http, sandbox, watchers, 0, rounds / 2);
            double before = heapMib(server);
            Quiet.await();
            show(http, sandbox, watchers, rounds / 2, rounds);
            double after = heapMib(server);
            var samples = new Samples();
            boolean all = true;
            for (Watcher watcher : watchers) {
                watcher.close();
                all &= watcher.samples().count() == rounds;
                samples.add(watcher.samples());
            }
            report.add(Row.of("one event to 1,000 watchers", samples).held("all get all " + rounds, all));
            report.add(Row.of("the heap after as many again", "MiB", after)
                    .held("flat: " + Report.number(before) + " before", after <= before + NOISE_MIB));
        }
    }

    private static void show(Http http, String sandbox, List<Watcher> watchers, int from, int to) {
        for (int round = from; round < to; round++) {
            http.post(
                            "/api/v1/sandboxes/" + sandbox + "/events",
                            "{\"event_type\":\"bench.step\",\"event_data\":{\"text\":\"" + "x".repeat(2_000)
                                    + "\",\"at\":" + System.nanoTime() + "}}")
                    .expect(201);
            for (Watcher watcher : watchers) {
                watcher.await(round + 1);
            }
        }
    }

    /// Returns the live heap of the server.
    private static double heapMib(VivServer server) {
        String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
        Programs.runQuietly(List.of(jcmd, Long.toString(server.pid()), "GC.run"));
        var text = new ByteArrayOutputStream();
        Programs.run(List.of(jcmd, Long.toString(server.pid()), "GC.heap_info"), Map.of(), text);
        var used = USED.matcher(text.toString(StandardCharsets.UTF_8));
        if (!used.find()) {
            throw new IllegalStateException("no heap in: " + text);
        }
        return Long.parseLong(used.group(1)) / 1024.0;
    }
}
