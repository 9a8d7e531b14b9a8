package dev.vivarium.bench;

import dev.vivarium.bench.Report.Row;
import dev.vivarium.sdk.Sandbox;
import dev.vivarium.sdk.SandboxClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;

/// Rate of small commands by 64 callers: bare, in local mode, over HTTP, and through a Docker Engine.
///
/// The callers share eight sandboxes or eight containers. Time slices of the four alternate.
final class ExecThroughput implements Measurement {
    private static final int CALLERS = 64;
    private static final int SANDBOXES = 8;
    private static final String COMMAND = "true";
    private static final Duration WARM_UP = Duration.ofSeconds(2);

    private final Tally bare = new Tally();
    private final Tally local = new Tally();
    private final Tally http = new Tally();
    private final Tally docker = new Tally();

    @Override
    public void run(Bench bench, Report report) {
        try (var server = bench.startServer(Map.of("POOL_SIZE", "0"));
                var engine = bench.openLocal()) {
            List<String> sessions = server.createAll("throughput-", SANDBOXES);
            List<Sandbox> boxes = boxes(engine);
            var containers = new ArrayList<String>();
            bench.docker().ifPresent(other -> {
                for (int i = 0; i < SANDBOXES; i++) {
                    containers.add(other.runToFirstOutput());
                }
            });
            Crowd.during(CALLERS, WARM_UP, overHttp(server, sessions)).orThrow();
            Crowd.during(CALLERS, WARM_UP, inProcess(boxes)).orThrow();
            Quiet.await();
            var slice = Duration.ofMillis(bench.rounds(3000));
            for (int i = 0; i < 3; i++) {
                bare.add(Crowd.during(CALLERS, slice, bareCallers(bench.bare())));
                local.add(Crowd.during(CALLERS, slice, inProcess(boxes)));
                http.add(Crowd.during(CALLERS, slice, overHttp(server, sessions)));
                bench.docker()
                        .ifPresent(other -> docker.add(Crowd.during(CALLERS, slice, onDocker(other, containers))));
            }
            containers.forEach(container -> bench.docker().orElseThrow().remove(container));
        }
        report.add(Row.rate("64-way exec, local mode", "/s", local.perSecond())
                .besideBare(bare.perSecond())
                .besideDocker(docker.perSecond()));
        report.add(Row.rate("64-way exec, HTTP", "/s", http.perSecond())
                .besideBare(bare.perSecond())
                .besideDocker(docker.perSecond()));
    }

    private static List<Sandbox> boxes(SandboxClient engine) {
        var boxes = new ArrayList<Sandbox>();
        for (int i = 0; i < SANDBOXES; i++) {
            boxes.add(engine.sandbox("bench", "throughput-" + i));
        }
        return boxes;
    }

    private static IntFunction<Crowd.Member> bareCallers(Bare bare) {
        return _ -> _ -> bare.run("/bin/bash", "-c", COMMAND);
    }

    private static IntFunction<Crowd.Member> inProcess(List<Sandbox> boxes) {
        return caller -> _ -> boxes.get(caller % SANDBOXES).execute(COMMAND);
    }

    private static IntFunction<Crowd.Member> overHttp(VivServer server, List<String> sessions) {
        return caller -> new Caller(
                server.connect(), (http, _) -> VivServer.execute(http, sessions.get(caller % SANDBOXES), COMMAND));
    }

    private static IntFunction<Crowd.Member> onDocker(Docker docker, List<String> containers) {
        return caller -> new Caller(
                docker.connect(), (http, _) -> docker.exec(http, containers.get(caller % SANDBOXES), COMMAND));
    }

    /// Sum of several slices.
    private static final class Tally {
        private long acts;
        private Duration time = Duration.ZERO;

        void add(Crowd.Result result) {
            result.orThrow();
            acts += result.samples().count();
            time = time.plus(result.took());
        }

        double perSecond() {
            return time.isZero() ? Double.NaN : acts / (time.toNanos() / 1e9);
        }
    }
}
