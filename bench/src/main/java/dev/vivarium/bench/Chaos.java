package dev.vivarium.bench;

import dev.vivarium.bench.Report.Row;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ThreadLocalRandom;

/// Repeated `kill -9` of the server under load.
///
/// Acknowledged writes must exist afterwards, once and in order, and no resource without an owner may remain.
final class Chaos implements Measurement {
    private static final int SANDBOXES = 4;
    private static final Map<String, String> SETTINGS =
            Map.of("POOL_SIZE", "2", "VIV_MAX_SANDBOXES", "200", "VIV_DISK_MB", "64");

    @Override
    public void run(Bench bench, Report report) {
        int kills = bench.rounds(100);
        Path home = bench.newHome();
        var ledger = new Ledger();
        Set<String> ids = new TreeSet<>();
        var line = new Line();
        line.connect(bench.startServer(home, SETTINGS));
        List<String> sandboxes = line.server().createAll("chaos-", SANDBOXES);
        try (var load = new ChaosLoad(line, sandboxes, ledger)) {
            var random = new Random(kills);
            for (int kill = 0; kill < kills; kill++) {
                Programs.pause(Duration.ofMillis(200 + random.nextInt(1_800)));
                ids.addAll(list(home));
                line.kill();
                ids.addAll(list(home));
                line.connect(bench.startServer(home, SETTINGS));
            }
            Programs.pause(Duration.ofSeconds(1));
            load.stop();
            verify(line.server(), sandboxes, ledger);
            ids.addAll(list(home));
            addRows(report, kills, ledger, left(line.server(), home, ids));
        } finally {
            line.server().close();
        }
    }

    private static void addRows(Report report, int kills, Ledger ledger, Set<String> left) {
        ledger.wrong().stream().limit(10).forEach(what -> System.err.println("  wrong: " + what));
        ledger.undelivered().stream().limit(10).forEach(what -> System.err.println("  never heard: " + what));
        left.stream().limit(10).forEach(trace -> System.err.println("  left: " + trace));
        report.add(Row.rate("events acknowledged through " + kills + " kill -9", "", ledger.count())
                .held("none lost, none twice, no gap", ledger.wrong().isEmpty())
                .held("nothing left", left.isEmpty()));
        report.add(Row.rate("messages accepted meanwhile", "", ledger.messages())
                .held(
                        "all heard, each id once (%d came again)".formatted(ledger.repeated()),
                        ledger.undelivered().isEmpty()));
    }

    private static void verify(VivServer server, List<String> sandboxes, Ledger ledger) {
        try (var http = server.connect()) {
            for (String sandbox : sandboxes) {
                var log = new ArrayList<JsonFields>();
                List<JsonFields> page;
                do {
                    String after =
                            "after_seq=" + (log.isEmpty() ? 0 : log.getLast().integer("seq"));
                    String path = "/api/v1/sandboxes/" + sandbox + "/events?limit=1000&" + after;
                    page = Json.answer(http.get(path).expect(200).text()).objects("events");
                    log.addAll(page);
                } while (!page.isEmpty());
                ledger.check(sandbox, log);
                VivServer.execute(http, sandbox, "true");
            }
        }
    }

    /// Ends every sandbox of the server and searches for remains. Machines of the pool do not count: they are ready
    /// for use.
    private static Set<String> left(VivServer server, Path home, Set<String> ids) {
        try (var http = server.connect()) {
            var known = Json.answer(http.get("/admin/sandboxes").expect(200).text());
            for (JsonFields sandbox : known.objects("sandboxes")) {
                http.delete("/admin/sandboxes/" + sandbox.string("sandbox_id"));
            }
        }
        server.awaitPool(Integer.parseInt(SETTINGS.get("POOL_SIZE")));
        Set<String> ours = new TreeSet<>(ids);
        ours.removeAll(list(home));
        Set<String> left = Traces.awaitNone(ours, home);
        if (list(home).size() > Integer.parseInt(SETTINGS.get("POOL_SIZE"))) {
            left.add("machines beside the pool: " + list(home));
        }
        return left;
    }

    /// Returns the sandboxes that have a machine.
    private static Set<String> list(Path home) {
        Set<String> ids = new TreeSet<>();
        String[] names = home.resolve("run").toFile().list();
        for (String name : names == null ? new String[0] : names) {
            if (name.startsWith("sbx")) {
                ids.add(name);
            }
        }
        return ids;
    }

    /// Holder of the current server. If the server is gone, callers wait for the next one. Thread-safe.
    static final class Line {
        private volatile VivServer server;

        @SuppressWarnings("NullAway.Init") // connect() is called first.
        Line() {}

        VivServer server() {
            return server;
        }

        void connect(VivServer next) {
            server = next;
        }

        void kill() {
            server.kill();
        }

        /// Waits a random short time before the next attempt.
        static void pause() {
            Programs.pause(Duration.ofMillis(20 + ThreadLocalRandom.current().nextInt(30)));
        }
    }
}
