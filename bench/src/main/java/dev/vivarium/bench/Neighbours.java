package dev.vivarium.bench;

import dev.vivarium.bench.Report.Row;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Latency of a small command in one sandbox while other sandboxes use all processors, and of `GET /health` meanwhile.
///
/// Each attack is measured in rounds that alternate with quiet rounds, because other load on the machine changes the
/// latency of both.
final class Neighbours implements Measurement {
    private static final int WARM_UP = 1000;
    private static final int TURNS = 4;
    private static final int EXECS = 500;
    private static final int HEALTH_EVERY = 4;
    private static final double MAX_HEALTH_MILLIS = 100;
    private static final Duration SETTLE = Duration.ofSeconds(2);

    /// At the process limit, each process retries.
    private static final String FORK_BOMB = "nohup perl -e 'fork while 1' > /dev/null 2>&1 < /dev/null &";

    private static final String SPIN =
            "for i in $(seq $(nproc)); do nohup sh -c 'while :; do :; done' > /dev/null 2>&1 < /dev/null & done";
    private static final String YES = "for i in $(seq 16); do nohup yes > /dev/null 2>&1 < /dev/null & done";

    @Override
    public void run(Bench bench, Report report) {
        try (var server = bench.startServer(Map.of("POOL_SIZE", "0"))) {
            var round = new Round(bench, report, server);
            round.warmUp();
            round.measure("a fork bomb and a busy loop on all processors", List.of(FORK_BOMB, SPIN), 99, 3);
            round.measure("16 x yes > /dev/null", List.of(YES), 95, 2);
        }
    }

    /// One server and the sandbox whose latency is measured.
    private static final class Round {
        private final Bench bench;
        private final Report report;
        private final VivServer server;
        private final String victim;

        Round(Bench bench, Report report, VivServer server) {
            this.bench = bench;
            this.report = report;
            this.server = server;
            try (var http = server.connect()) {
                this.victim = VivServer.create(http, "victim");
            }
        }

        void warmUp() {
            sample(WARM_UP, new Samples(), new Samples());
        }

        void measure(String name, List<String> attacks, double percent, double max) {
            var quietExec = new Samples();
            var quietHealth = new Samples();
            var exec = new Samples();
            var health = new Samples();
            Quiet.await();
            for (int turn = 0; turn < TURNS; turn++) {
                sample(bench.rounds(EXECS), quietExec, quietHealth);
                List<String> attackers = attack(attacks);
                Programs.pause(SETTLE);
                sample(bench.rounds(EXECS), exec, health);
                end(attackers);
            }
            report.add(Row.of("exec, quiet (load " + load() + ")", quietExec));
            double times = exec.percentile(percent) / quietExec.percentile(percent);
            report.add(Row.of("exec beside " + name, exec)
                    .held("p%.0f <= %.0f x quiet (%.1f x)".formatted(percent, max, times), times <= max));
            double worst = health.percentile(100);
            report.add(Row.of("/health beside " + name, health)
                    .held("<= 100 ms (slowest " + Report.number(worst) + ")", worst <= MAX_HEALTH_MILLIS));
        }

        private void sample(int rounds, Samples exec, Samples health) {
            try (var http = server.connect()) {
                for (int i = 0; i < rounds; i++) {
                    exec.time(() -> VivServer.execute(http, victim, "true"));
                    if (i % HEALTH_EVERY == 0) {
                        health.time(() -> server.health().expect(200));
                    }
                }
            }
        }

        private List<String> attack(List<String> commands) {
            var attackers = new ArrayList<String>();
            try (var http = server.connect()) {
                for (String command : commands) {
                    String session = VivServer.create(http, "attacker-" + attackers.size());
                    attackers.add(session);
                    VivServer.execute(http, session, command);
                }
            }
            return attackers;
        }

        private void end(List<String> attackers) {
            try (var http = server.connect()) {
                attackers.forEach(session -> VivServer.cleanup(http, session));
            }
        }

        private static String load() {
            try {
                return Files.readString(Path.of("/proc/loadavg")).split(" ", 2)[0];
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
        }
    }
}
