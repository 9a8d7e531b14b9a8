package dev.vivarium.bench;

import dev.vivarium.bench.Report.Row;
import java.time.Duration;
import java.util.Map;

/// From nothing to the first output of a command: from a warm pool, cold without one, and right after the pool was
/// drained; beside a container of a Docker Engine. Taken in turns, each when the machine has nothing else to do.
final class CreateLatency implements Measurement {
    private static final int POOL = 4;
    private static final int WARM_UP = 10;
    private static final int DOCKER_EVERY = 2;
    private static final Duration REST = Duration.ofMillis(40);

    private final Samples warmCreate = new Samples();
    private final Samples warm = new Samples();
    private final Samples coldCreate = new Samples();
    private final Samples cold = new Samples();
    private final Samples drained = new Samples();
    private final Samples docker = new Samples();

    @Override
    public void run(Bench bench, Report report) {
        try (var pooled = bench.startServer(Map.of("POOL_SIZE", Integer.toString(POOL)));
                var poolless = bench.startServer(Map.of("POOL_SIZE", "0"))) {
            pooled.warmUp();
            poolless.warmUp();
            Quiet.await();
            for (int i = -WARM_UP; i < bench.rounds(60); i++) {
                if (i == 0) {
                    clear();
                }
                round(bench, pooled, poolless, i);
            }
        }
        report.add(Row.of("create -> first output, warm pool", warm)
                .besideDocker(docker.p50())
                .heldToTimesBetterThanDocker(30));
        report.add(Row.of("  of which create", warmCreate));
        report.add(Row.of("create -> first output, cold (no pool)", cold)
                .besideDocker(docker.p50())
                .heldToTimesBetterThanDocker(8));
        report.add(Row.of("  of which create", coldCreate));
        report.add(Row.of("create -> first output, drained pool", drained).besideDocker(docker.p50()));
    }

    private void clear() {
        warmCreate.clear();
        warm.clear();
        coldCreate.clear();
        cold.clear();
        drained.clear();
        docker.clear();
    }

    private void round(Bench bench, VivServer pooled, VivServer poolless, int number) {
        measureWarm(pooled, number);
        measureDrained(pooled, number);
        measureCold(poolless, number);
        if (number % DOCKER_EVERY == 0) {
            bench.docker().ifPresent(this::measureDocker);
        }
    }

    private void measureWarm(VivServer server, int round) {
        server.awaitPool(POOL);
        Programs.pause(REST);
        measure(server, "warm-" + round, warmCreate, warm);
    }

    private void measureCold(VivServer server, int round) {
        Programs.pause(REST);
        measure(server, "cold-" + round, coldCreate, cold);
    }

    /// Takes the whole pool at once; the next call finds it empty, and meets the refill.
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

    private void measureDocker(Docker engine) {
        Programs.pause(REST);
        long start = System.nanoTime();
        String container = engine.runToFirstOutput();
        docker.add(System.nanoTime() - start);
        engine.remove(container);
    }
}
