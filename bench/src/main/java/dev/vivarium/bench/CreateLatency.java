package dev.vivarium.bench;

import dev.vivarium.bench.Report.Row;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntConsumer;

/// Latency from the create call to the first output of a command, compared with a Docker container.
///
/// It covers a warm pool, no pool, and a pool that was just drained, in alternation. Before each sample, another
/// session uses the server, as in all other rows. One row lets the server rest before.
final class CreateLatency implements Measurement {
    private static final int POOL = 4;
    private static final int WARM_UP = 60;
    private static final int DOCKER_EVERY = 2;
    private static final Duration REST = Duration.ofMillis(40);

    private static final int USES = 20;

    private final Samples warmCreate = new Samples();
    private final Samples warm = new Samples();
    private final Samples rested = new Samples();
    private final Samples coldCreate = new Samples();
    private final Samples cold = new Samples();
    private final Samples drained = new Samples();
    private final Samples docker = new Samples();

    /// Server with a session of another user.
    private record Used(VivServer server, String neighbour) {
        static Used of(VivServer server) {
            server.warmUp();
            try (var http = server.connect()) {
                return new Used(server, VivServer.create(http, "neighbour"));
            }
        }

        /// Waits for earlier work to end, and lets the other session run commands.
        void use() {
            Programs.pause(REST);
            try (var http = server.connect()) {
                for (int i = 0; i < USES; i++) {
                    VivServer.execute(http, neighbour, "true");
                }
            }
        }
    }

    @Override
    public void run(Bench bench, Report report) {
        Optional<String> container = bench.docker().map(Docker::runToFirstOutput);
        try (var pooled = bench.startServer(Map.of("POOL_SIZE", Integer.toString(POOL)));
                var poolless = bench.startServer(Map.of("POOL_SIZE", "0"))) {
            var warmOne = Used.of(pooled);
            var coldOne = Used.of(poolless);
            Quiet.await();
            IntConsumer round = i -> {
                round(warmOne, coldOne, i);
                if (i >= -1 && i % DOCKER_EVERY == 0 && container.isPresent()) {
                    measureDocker(bench.docker().orElseThrow(), container.get());
                }
            };
            Samples[] all = {warmCreate, warm, rested, coldCreate, cold, drained, docker};
            Samples.alternate(WARM_UP, bench.rounds(60), round, all);
        }
        container.ifPresent(id -> bench.docker().orElseThrow().remove(id));
        addRows(report);
    }

    private void addRows(Report report) {
        report.add(Row.of("create -> first output, warm pool", warm)
                .besideDocker(docker.p50())
                .heldToTimesBetterThanDocker(30));
        report.add(Row.of("  of which create", warmCreate));
        report.add(Row.of("create -> first output, warm pool, after a rest", rested)
                .besideDocker(docker.p50()));
        report.add(Row.of("create -> first output, cold (no pool)", cold)
                .besideDocker(docker.p50())
                .heldToTimesBetterThanDocker(8));
        report.add(Row.of("  of which create", coldCreate));
        report.add(Row.of("create -> first output, drained pool", drained).besideDocker(docker.p50()));
    }

    private void round(Used pooled, Used poolless, int number) {
        pooled.server.awaitPool(POOL);
        pooled.use();
        measure(pooled.server, "warm-" + number, warmCreate, warm);
        pooled.server.awaitPool(POOL);
        Programs.pause(REST);
        measure(pooled.server, "rested-" + number, new Samples(), rested);
        measureDrained(pooled.server, number);
        poolless.use();
        measure(poolless.server, "cold-" + number, coldCreate, cold);
    }

    /// Takes the whole pool at once. The next call finds the pool empty and runs during the refill.
    private void measureDrained(VivServer server, int round) {
        server.awaitPool(POOL);
        Programs.pause(REST);
        try (var http = server.connect()) {
            var taken = new String[POOL];
            for (int i = 0; i < POOL; i++) {
                taken[i] = VivServer.create(http, "taken-" + round + "-" + i);
            }
            measure(server, "drained-" + round, new Samples(), drained);
            for (String session : taken) {
                VivServer.cleanup(http, session);
            }
        }
    }

    private static void measure(VivServer server, String thread, Samples created, Samples answered) {
        String session;
        try (var http = server.connect()) {
            long start = System.nanoTime();
            session = VivServer.create(http, thread);
            created.add(System.nanoTime() - start);
            VivServer.awaitOutput(http, session, "echo ready", "ready");
            answered.add(System.nanoTime() - start);
        }
        try (var http = server.connect()) {
            VivServer.cleanup(http, session);
        }
    }

    private void measureDocker(Docker engine, String neighbour) {
        Programs.pause(REST);
        try (var control = engine.connect()) {
            engine.exec(control, neighbour, "true");
        }
        long start = System.nanoTime();
        String container = engine.runToFirstOutput();
        docker.add(System.nanoTime() - start);
        engine.remove(container);
    }
}
