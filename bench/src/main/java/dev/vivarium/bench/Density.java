package dev.vivarium.bench;

import dev.vivarium.bench.Report.Row;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/// How fast many sandboxes come up, and what each of them costs in memory when it idles: the growth of what the whole
/// machine uses, the server's own heap after a collection included.
final class Density implements Measurement {
    private static final int SANDBOXES = 200;
    private static final int CONTAINERS = 20;
    private static final int PARALLELISM = 4;
    private static final double MOST_KIB = 1024;

    /// Creations a second, and KiB for each that idles.
    private record Cost(double perSecond, double kib) {
        static final Cost UNKNOWN = new Cost(Double.NaN, Double.NaN);
    }

    /// The machine's memory and the private memory of the processes in question.
    private record Look(Memory machine, long processesKib) {
        long kib() {
            return machine.kernelKib() + processesKib;
        }
    }

    @Override
    public void run(Bench bench, Report report) {
        Cost docker = bench.docker().map(Density::containers).orElse(Cost.UNKNOWN);
        try (var server =
                bench.startServer(Map.of("POOL_SIZE", "0", "VIV_MAX_SANDBOXES", Integer.toString(2 * SANDBOXES)))) {
            churn(server);
            Quiet.await();
            Look before = look(server, Set.of());
            Set<String> sessions = ConcurrentHashMap.newKeySet();
            var created = create(server, sessions);
            Quiet.await();
            Look after = look(server, sessions);
            addRows(report, new Cost(created.perSecond(), each(before, after, SANDBOXES)), docker);
            double caches = after.machine().reclaimableKib() - before.machine().reclaimableKib();
            report.add(Row.of("and caches that it can lose at any time", "KiB", caches / SANDBOXES));
            System.err.println("  KiB a sandbox, by kind: "
                    + after.machine().growth(before.machine(), SANDBOXES)
                    + ", processes and server: "
                    + (after.processesKib() - before.processesKib()) / SANDBOXES);
        }
    }

    private static double each(Look before, Look after, int count) {
        return (after.kib() - before.kib()) / (double) count;
    }

    /// Garbage is not what a sandbox costs.
    private static Look look(VivServer server, Set<String> sessions) {
        String tool = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
        Programs.runQuietly(List.of(tool, Long.toString(server.pid()), "GC.run"));
        var machine = Memory.settled();
        return new Look(machine, Processes.privateKib(server.pid()) + Processes.privateKibOf(sessions));
    }

    private static void addRows(Report report, Cost each, Cost docker) {
        report.add(Row.rate("creation rate, 200 at parallelism 4", "/s", each.perSecond())
                .besideDocker(docker.perSecond()));
        report.add(Row.of("idle memory a sandbox, at 200", "KiB", each.kib())
                .besideDocker(docker.kib())
                .held("<= 1 MiB, all in", each.kib() <= MOST_KIB));
    }

    /// A container's processes are in a cgroup that bears its id; its shim is not, but names it.
    private static Cost containers(Docker docker) {
        Set<String> containers = ConcurrentHashMap.newKeySet();
        Quiet.await();
        var before = new Look(Memory.settled(), 0);
        var created =
                Crowd.turns(PARALLELISM, CONTAINERS / PARALLELISM, _ -> _ -> containers.add(docker.runToFirstOutput()));
        var after = new Look(Memory.settled(), Processes.privateKibOf(containers));
        containers.forEach(docker::remove);
        return new Cost(created.orThrow().perSecond(), each(before, after, CONTAINERS));
    }

    /// Lets the server reach its working size before the first look, so that only sandboxes make the difference.
    private static void churn(VivServer server) {
        Crowd.turns(
                        PARALLELISM,
                        SANDBOXES / 2 / PARALLELISM,
                        caller -> new Caller(server.connect(), http -> {
                            String session = VivServer.create(http, "churn-" + caller);
                            VivServer.cleanup(http, session);
                        }))
                .orThrow();
    }

    private static Crowd.Result create(VivServer server, Set<String> sessions) {
        var number = new AtomicInteger();
        return Crowd.turns(
                        PARALLELISM,
                        SANDBOXES / PARALLELISM,
                        _ -> new Caller(
                                server.connect(),
                                http -> sessions.add(VivServer.create(http, "density-" + number.incrementAndGet()))))
                .orThrow();
    }
}
