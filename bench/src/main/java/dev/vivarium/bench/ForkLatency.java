package dev.vivarium.bench;

import dev.vivarium.bench.Report.Row;
import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.provider.Provider.Disk;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.Command;
import dev.vivarium.model.End;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SnapshotInfo;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.security.SecureRandom;

/// Latency of saving and forking a workspace of 100 MB in 1,000 files, compared with `cp -a` of the same files on the
/// host.
final class ForkLatency implements Measurement {
    private static final String FILES = "mkdir -p %1$s && cd %1$s && for i in $(seq 1000); do"
            + " head -c 100000 /dev/urandom > file$i; done; sync";
    private static final double MIN_TIMES = 10;
    private static final double MAX_MILLIS = 1000;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Samples first = new Samples();
    private final Samples again = new Samples();
    private final Samples disk = new Samples();
    private final Samples fork = new Samples();
    private final Samples copy = new Samples();

    @Override
    public void run(Bench bench, Report report) {
        try (var engine = Engine.open(bench, 3)) {
            bench.bare().run(program("sh"), "-c", FILES.formatted(engine.home().resolve("files")));
            Sandbox origin = engine.sandboxes().open(request("origin")).sandbox();
            try (var execution = origin.exec(Command.shell(FILES.formatted("files")))) {
                execution.collect();
            }
            Quiet.await();
            for (int round = 0; round < bench.rounds(30); round++) {
                measure(bench, engine, origin);
            }
            engine.sandboxes().terminate(origin.id(), End.Cause.USER, "measured");
        }
        addRows(report);
    }

    private static NewSandbox request(String thread) {
        return NewSandbox.of(new UserId("bench"), new ThreadId(thread));
    }

    private void measure(Bench bench, Engine engine, Sandbox origin) {
        Path home = engine.home();
        Provider provider = engine.provider();
        Sandboxes sandboxes = engine.sandboxes();
        copy.time(() -> bench.bare()
                .run(
                        program("cp"),
                        "-a",
                        home.resolve("files").toString(),
                        home.resolve("copy").toString()));
        delete(home.resolve("copy"));
        SnapshotInfo[] taken = new SnapshotInfo[2];
        first.time(() -> taken[0] = sandboxes.snapshots().take(origin, ""));
        SandboxId id = SandboxId.random(RANDOM);
        disk.time(() -> provider.restore(id, taken[0].id()));
        provider.remove(id, Disk.ERASE);
        Sandbox[] forked = new Sandbox[1];
        fork.time(() -> forked[0] = sandboxes.fork(request("fork"), taken[0]));
        again.time(() -> taken[1] = sandboxes.snapshots().take(forked[0], ""));
        sandboxes.terminate(forked[0].id(), End.Cause.USER, "measured");
        for (var snapshot : taken) {
            sandboxes.snapshots().delete(snapshot);
        }
    }

    private static String program(String name) {
        return Programs.find(name).orElseThrow().toString();
    }

    private static void delete(Path tree) {
        try {
            FileTrees.delete(tree);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void addRows(Report report) {
        report.add(Row.of("fork 100 MB in 1,000 files, the disk", disk)
                .besideBare(copy.p50())
                .held(">= 10 x faster than cp -a", copy.p50() / disk.p50() >= MIN_TIMES));
        report.add(Row.of("  with a sandbox that runs on it", fork).besideBare(copy.p50()));
        report.add(Row.of("snapshot of it, the first of a sandbox", first)
                .besideBare(copy.p50())
                .held("<= 1 s", first.p50() <= MAX_MILLIS));
        report.add(
                Row.of("snapshot of a fork", again).besideBare(copy.p50()).held("<= 1 s", again.p50() <= MAX_MILLIS));
    }
}
