package dev.vivarium.bench;

import dev.vivarium.bench.Report.Row;
import dev.vivarium.core.provider.Machine;
import dev.vivarium.core.sandbox.PauseReason;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.model.Command;
import dev.vivarium.model.End;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.time.Duration;
import java.util.Optional;
import java.util.function.IntConsumer;

/// Latency of pause and resume, compared with a Docker Engine.
///
/// It measures the engine, which writes the new state to disk before it acts, and the machine below it alone.
final class PauseLatency implements Measurement {
    private static final UserId BENCH = new UserId("bench");
    private static final PauseReason ASKED = PauseReason.by(BENCH);
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final int WARM_UP = 50;
    private static final int DOCKER_EVERY = 10;
    private static final double MAX_MILLIS = 1;

    private final Samples pause = new Samples();
    private final Samples resume = new Samples();
    private final Samples freeze = new Samples();
    private final Samples thaw = new Samples();
    private final Samples dockerPause = new Samples();
    private final Samples dockerResume = new Samples();

    @Override
    public void run(Bench bench, Report report) {
        try (var engine = Engine.open(bench, 1)) {
            var sandboxes = engine.sandboxes();
            var request = NewSandbox.of(BENCH, new ThreadId("pause"));
            Sandbox sandbox = sandboxes.open(request).sandbox();
            try (var sleeper = sandbox.exec(Command.shell("sleep 3600"))) {
                sleeper.next();
                Machine machine = engine.provider().adopt(sandbox.id(), TIMEOUT).orElseThrow();
                Optional<String> container = bench.docker().map(Docker::runToFirstOutput);
                Quiet.await();
                measure(bench, sandbox, machine, container);
                container.ifPresent(id -> bench.docker().orElseThrow().remove(id));
            } finally {
                sandboxes.terminate(sandbox.id(), End.Cause.USER, "measured");
            }
        }
        addRows(report);
    }

    private void measure(Bench bench, Sandbox sandbox, Machine machine, Optional<String> container) {
        IntConsumer round = i -> {
            pause.time(() -> sandbox.pause(ASKED));
            resume.time(() -> sandbox.resume(ASKED));
            freeze.time(machine::pause);
            thaw.time(machine::resume);
            if (i % DOCKER_EVERY == 0) {
                container.ifPresent(id -> measureDocker(bench.docker().orElseThrow(), id));
            }
        };
        Samples[] all = {pause, resume, freeze, thaw, dockerPause, dockerResume};
        Samples.alternate(WARM_UP, bench.rounds(500), round, all);
    }

    private void measureDocker(Docker engine, String container) {
        try (var control = engine.connect()) {
            dockerPause.time(() -> Docker.pause(control, container));
            dockerResume.time(() -> Docker.resume(control, container));
        }
    }

    private void addRows(Report report) {
        report.add(Row.of("pause, in the engine", pause)
                .besideDocker(dockerPause.p50())
                .held("<= 1 ms", pause.p50() <= MAX_MILLIS));
        report.add(Row.of("resume, in the engine", resume)
                .besideDocker(dockerResume.p50())
                .held("<= 1 ms", resume.p50() <= MAX_MILLIS));
        report.add(Row.of("pause, the machine alone", freeze));
        report.add(Row.of("resume, the machine alone", thaw));
    }
}
