package dev.vivarium.bench;

import dev.vivarium.bench.Report.Row;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntConsumer;

/// Round trip of one small command: bare, through the engine in this process, over HTTP, and through a Docker Engine.
///
/// The four alternate, so that noise affects all of them equally.
final class ExecLatency implements Measurement {
    private static final String COMMAND = "true";
    private static final int WARM_UP = 1000;
    private static final int DOCKER_EVERY = 20;

    private final Samples bare = new Samples();
    private final Samples local = new Samples();
    private final Samples http = new Samples();
    private final Samples docker = new Samples();

    @Override
    public void run(Bench bench, Report report) {
        try (var server = bench.startServer(Map.of("POOL_SIZE", "0"));
                var connection = server.connect();
                var engine = bench.openLocal()) {
            String session = VivServer.create(connection, "exec-latency");
            var box = engine.sandbox("bench", "exec-latency");
            Optional<String> container = bench.docker().map(Docker::runToFirstOutput);
            Quiet.await();
            IntConsumer round = i -> {
                bare.time(() -> bench.bare().run("/bin/bash", "-c", COMMAND));
                local.time(() -> box.execute(COMMAND));
                http.time(() -> VivServer.execute(connection, session, COMMAND));
                if (i % DOCKER_EVERY == 0) {
                    container.ifPresent(id -> dockerExec(bench.docker().orElseThrow(), id));
                }
            };
            Samples.alternate(WARM_UP, bench.rounds(2000), round, bare, local, http, docker);
            container.ifPresent(id -> bench.docker().orElseThrow().remove(id));
        }
        report.add(Row.of("exec round trip, local mode", local)
                .besideBare(bare.p50())
                .besideDocker(docker.p50())
                .heldToTimesBare(2));
        report.add(Row.of("exec round trip, HTTP", http)
                .besideBare(bare.p50())
                .besideDocker(docker.p50())
                .heldToTimesBare(4)
                .heldToTimesBetterThanDocker(20));
    }

    private void dockerExec(Docker engine, String container) {
        try (var control = engine.connect()) {
            docker.time(() -> engine.exec(control, container, COMMAND));
        }
    }
}
