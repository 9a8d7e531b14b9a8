package dev.vivarium.bench;

import dev.vivarium.bench.Report.Row;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.function.Supplier;

/// Latency of another user during attacks: a small command and `GET /health`, in alternation.
///
/// It measures first without an attack and then during each attack. The server has a heap of 512 MB.
final class Attacks implements Measurement {
    private static final int WARM_UP = 1000;
    private static final double MAX_TIMES_QUIET = 5;
    private static final double MAX_HEALTH_MILLIS = 100;
    private static final Duration SETTLE = Duration.ofSeconds(2);
    private static final int HEALTH_EVERY = 4;

    /// A tree of 40,000 files and a sparse file of 1 TB.
    private static final String FILES =
            "mkdir -p tree && cd tree && for d in $(seq 200); do mkdir d$d && (cd d$d && touch $(seq -f name-of-a-file-%05g 200)); done; cd ..; truncate -s 1T sparse || truncate -s 100G sparse";

    @Override
    public void run(Bench bench, Report report) {
        var settings = Map.of(
                "POOL_SIZE", "0",
                "VIV_JAVA_OPTS", "-Xmx512m",
                "MAX_TOTAL_FILES", "100000",
                "VIV_EGRESS_PRIVATE", "127.0.0.1/32",
                "VIV_EGRESS_MOST", "127.0.0.1:*");
        try (var server = bench.startServer(settings)) {
            new Round(bench, report, server).run();
        }
    }

    /// One server, its attacker and its victim.
    private static final class Round {
        private final Bench bench;
        private final Report report;
        private final VivServer server;
        private final Path directory;
        private final String attackerKey;
        private final String attacker;
        private final String victimKey;
        private final String victim;
        private double quietP99;

        Round(Bench bench, Report report, VivServer server) {
            this.bench = bench;
            this.report = report;
            this.server = server;
            this.directory = server.home();
            try (var admin = server.connect()) {
                attackerKey = key(admin, "attacker");
                victimKey = key(admin, "victim");
            }
            attacker = session(attackerKey, "attacker");
            victim = session(victimKey, "victim");
        }

        private static String key(Http admin, String user) {
            return admin.post("/admin/keys", "{\"user_id\":\"" + user + "\"}")
                    .expect(201)
                    .member("key");
        }

        private String session(String key, String user) {
            try (var http = server.connect(key)) {
                String body = "{\"user_id\":\"" + user + "\",\"thread_id\":\"" + user + "\"}";
                return http.post("/create_session", body).expect(201).member("session_id");
            }
        }

        void run() {
            prepare();
            measure("nobody attacks", () -> () -> {}, true);
            measure("endless 103 through egress", this::egressHints, false);
            measure("endless 103 through a preview", () -> attack("preview-hints"), false);
            measure("80 unread listings of 40,000 files", () -> attack("unread-listings"), false);
            measure("60 callers with 20 MiB of output each", () -> attack("large-outputs"), false);
            measure("1,100 abandoned HEADs of a 1 TB file", () -> attack("abandoned-heads"), false);
            measure("1,300 connections with slow headers", () -> attack("slow-headers"), false);
            measure("600 slow request bodies", () -> attack("slow-bodies"), false);
        }

        private void prepare() {
            try (var http = server.connect(attackerKey)) {
                try (var source = Attacks.class.getResourceAsStream("inside.py")) {
                    VivServer.upload(http, attacker, "inside.py", source.readAllBytes());
                } catch (IOException failure) {
                    throw new UncheckedIOException(failure);
                }
                VivServer.execute(http, attacker, FILES);
                VivServer.execute(http, attacker, "nohup python3 inside.py preview > /dev/null 2>&1 &");
            }
            try (var http = server.connect(victimKey)) {
                for (int i = 0; i < WARM_UP; i++) {
                    VivServer.execute(http, victim, "true");
                    server.health().expect(200);
                }
            }
        }

        private Attack attack(String name) {
            return AttackClient.start(directory, name, String.valueOf(server.port()), attackerKey, attacker)::close;
        }

        /// Starts the requests inside the sandbox. The responding host is a process of this machine.
        private Attack egressHints() {
            var host = AttackClient.start(directory, "hints-server", "0", "-", "-");
            String port = host.firstLine();
            try (var http = server.connect(attackerKey)) {
                http.exchange(
                                "PUT",
                                "/threads/attacker/egress",
                                "application/json",
                                ("{\"allow\":[\"127.0.0.1:" + port + "\"]}").getBytes(StandardCharsets.UTF_8))
                        .expect(200);
                VivServer.execute(http, attacker, "nohup python3 inside.py egress " + port + " > /dev/null 2>&1 &");
            }
            return () -> {
                host.close();
                try (var http = server.connect(attackerKey)) {
                    VivServer.execute(http, attacker, "pkill -f 'inside.py [e]gress'; true");
                }
            };
        }

        private void measure(String name, Supplier<Attack> start, boolean quiet) {
            Quiet.await();
            var exec = new Samples();
            var health = new Samples();
            String failure = "";
            try (var _ = start.get();
                    var execs = server.connect(victimKey)) {
                Programs.pause(quiet ? Duration.ZERO : SETTLE);
                for (int i = 0; i < bench.rounds(2000); i++) {
                    exec.time(() -> VivServer.execute(execs, victim, "true"));
                    if (i % HEALTH_EVERY == 0) {
                        health.time(() -> server.health().expect(200));
                    }
                }
            } catch (RuntimeException e) {
                failure = String.valueOf(e.getMessage());
            }
            if (quiet) {
                quietP99 = exec.p99();
            }
            report(name, exec, health, failure);
        }

        private void report(String name, Samples exec, Samples health, String failure) {
            var row = Row.of("exec: " + name, exec)
                    .held("<= 5 x the quiet p99", exec.p99() <= MAX_TIMES_QUIET * quietP99);
            report.add(failure.isEmpty() ? row : row.held("every call succeeds: " + failure, false));
            double worst = health.percentile(100);
            report.add(Row.of("/health: " + name, health)
                    .held("<= 100 ms (slowest " + Report.number(worst) + ")", worst <= MAX_HEALTH_MILLIS));
        }
    }

    /// Attack that runs until it is closed.
    @FunctionalInterface
    private interface Attack extends AutoCloseable {
        @Override
        void close();
    }
}
