package dev.vivarium.bench;

import dev.vivarium.bench.Report.Row;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/// Creation rate of many sandboxes, and the memory of each idle sandbox.
///
/// The memory is the growth of the whole machine, including the server's own heap after a collection.
final class Density implements Measurement {
    private static final int SANDBOXES = 200;
    private static final int CONTAINERS = 20;
    private static final int PARALLELISM = 4;
    private static final double MAX_KIB = 1024;

    /// Creations per second, and KiB per idle sandbox.
    private record Cost(double perSecond, double kib) {
        static final Cost UNKNOWN = new Cost(Double.NaN, Double.NaN);
    }

    /// Memory of the machine, and private memory of the measured processes.
    private record Usage(Memory machine, long processesKib) {
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
            Usage before = measure(server, Set.of());
            Set<String> sessions = ConcurrentHashMap.newKeySet();
            var created = create(server, sessions);
            Quiet.await();
            Usage after = measure(server, sessions);
            addRows(report, new Cost(created.perSecond(), each(before, after, SANDBOXES)), docker);
            double caches = after.machine().reclaimableKib() - before.machine().reclaimableKib();
            report.add(Row.of("and caches that it can lose at any time", "KiB", caches / SANDBOXES));
            System.err.println("  KiB a sandbox, by kind: "
                    + after.machine().growth(before.machine(), SANDBOXES)
                    + ", processes and server: "
                    + (after.processesKib() - before.processesKib()) / SANDBOXES);
        }
    }

    private static double each(Usage before, Usage after, int count) {
        return (after.kib() - before.kib()) / (double) count;
    }

    /// Collects garbage first, because garbage is not a cost of a sandbox.
    private static Usage measure(VivServer server, Set<String> sessions) {
        String tool = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
        Programs.runQuietly(List.of(tool, Long.toString(server.pid()), "GC.run"));
        var machine = Memory.settled();
        return new Usage(machine, Processes.privateKib(server.pid()) + Processes.privateKibOf(sessions));
    }

    private static void addRows(Report report, Cost each, Cost docker) {
        report.add(Row.rate("creation rate, 200 at parallelism 4", "/s", each.perSecond())
                .besideDocker(docker.perSecond()));
        report.add(Row.of("idle memory a sandbox, at 200", "KiB", each.kib())
                .besideDocker(docker.kib())
                .held("<= 1 MiB, all in", each.kib() <= MAX_KIB));
    }

    /// The processes of a container are in a cgroup with its id. Its shim is not, but has the id in its command
    /// line.
    private static Cost containers(Docker docker) {
        Set<String> containers = ConcurrentHashMap.newKeySet();
        Quiet.await();
        var before = new Usage(Memory.settled(), 0);
        var created =
                Crowd.turns(PARALLELISM, CONTAINERS / PARALLELISM, _ -> _ -> containers.add(docker.runToFirstOutput()));
        var after = new Usage(Memory.settled(), Processes.privateKibOf(containers));
        containers.forEach(docker::remove);
        return new Cost(created.orThrow().perSecond(), each(before, after, CONTAINERS));
    }

    /// Lets the server reach its working size before the first reading, so that only sandboxes make the difference.
    private static void churn(VivServer server) {
        Crowd.turns(
                        PARALLELISM,
                        SANDBOXES / 2 / PARALLELISM,
                        caller -> new Caller(server.connect(), (http, _) -> {
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
                                (http, _) ->
                                        sessions.add(VivServer.create(http, "density-" + number.incrementAndGet()))))
                .orThrow();
    }
}
