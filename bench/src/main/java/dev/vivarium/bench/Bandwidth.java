package dev.vivarium.bench;

import dev.vivarium.bench.Report.Row;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.sdk.Sandbox;
import java.util.Optional;
import java.util.function.IntConsumer;

/// Rate of 1 GiB of standard output through the engine in this process, compared with a bare pipe and Docker's exec
/// stream.
final class Bandwidth implements Measurement {
    private static final long BYTES = 1L << 30;
    private static final long DOCKER_BYTES = 1L << 27;
    private static final double MIB = 1 << 20;
    private static final double MIN_SHARE = 0.5;

    private final Samples bare = new Samples();
    private final Samples local = new Samples();
    private final Samples docker = new Samples();

    @Override
    public void run(Bench bench, Report report) {
        try (var engine = bench.openLocal()) {
            var box = engine.sandbox("bench", "bandwidth");
            Optional<String> container = bench.docker().map(Docker::runToFirstOutput);
            Quiet.await();
            IntConsumer round = _ -> {
                bare.time(() -> expect(BYTES, readBare(bench.bare())));
                local.time(() -> expect(BYTES, readLocal(box)));
                container.ifPresent(id -> readDocker(bench.docker().orElseThrow(), id));
            };
            Samples.alternate(1, bench.rounds(7), round, bare, local, docker);
            container.ifPresent(id -> bench.docker().orElseThrow().remove(id));
        }
        double dockerRate = DOCKER_BYTES / MIB / (docker.p50() / 1000);
        double rate = BYTES / MIB / (local.p50() / 1000);
        double bareRate = BYTES / MIB / (bare.p50() / 1000);
        report.add(Row.rate("stdout of 1 GB, local mode", "MiB/s", rate)
                .besideBare(bareRate)
                .besideDocker(dockerRate)
                .held(">= half of a bare pipe", rate >= MIN_SHARE * bareRate));
    }

    private static long readBare(Bare bare) {
        return bare.readAll("/bin/bash", "-c", script(BYTES));
    }

    private static long readLocal(Sandbox box) {
        long total = 0;
        try (var run = box.start(script(BYTES))) {
            for (ExecEvent event : run) {
                if (event instanceof ExecEvent.Output output) {
                    total += output.bytes().length;
                }
            }
        }
        return total;
    }

    private void readDocker(Docker engine, String container) {
        try (var control = engine.connect()) {
            docker.time(() -> engine.exec(control, container, script(DOCKER_BYTES)));
        }
    }

    private static String script(long bytes) {
        return "head -c " + bytes + " /dev/zero";
    }

    private static void expect(long wanted, long got) {
        if (got != wanted) {
            throw new IllegalStateException(got + " bytes came instead of " + wanted);
        }
    }
}
