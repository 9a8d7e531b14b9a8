package dev.vivarium.bench;

import dev.vivarium.bench.Report.Row;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntFunction;

/// Load scenarios: steady commands over many sessions, concurrent file operations, and sandbox churn.
///
/// Nothing may remain after the churn. [Burst] covers the hundred concurrent creations.
final class Load implements Measurement {
    private static final int SESSIONS = 50;
    private static final int COMMANDS_A_MINUTE = 1000;
    private static final Duration LATE = Duration.ofSeconds(1);
    private static final int FILE_CALLERS = 100;
    private static final int FILE_SIZE = 64 * 1024;
    private static final int CHURNERS = 8;

    @Override
    public void run(Bench bench, Report report) {
        try (var server = bench.startServer(Map.of("POOL_SIZE", "10", "VIV_MAX_SANDBOXES", "200"))) {
            List<String> sessions = server.createAll("load-", SESSIONS);
            Quiet.await();
            steady(bench, report, server, sessions);
            flatOut(bench, report, server, sessions);
            fileOperations(bench, report, server, sessions);
        }
        try (var server = bench.startServer(Map.of("POOL_SIZE", "0", "VIV_MAX_SANDBOXES", "200"))) {
            churn(bench, report, server);
        }
    }

    private static void steady(Bench bench, Report report, VivServer server, List<String> sessions) {
        var interval = Duration.ofMinutes(1).dividedBy(COMMANDS_A_MINUTE);
        int turns = bench.rounds(10);
        var result = Crowd.paced(SESSIONS, turns, interval, command(server, sessions));
        result.printFailures();
        double worst = result.samples().percentile(100);
        boolean holds = result.failures().isEmpty() && worst < LATE.toMillis();
        report.add(Row.of("load: 1,000 commands/min over 50 sessions", result.samples())
                .held("all succeed, none later than 1 s (" + result.samples().count() + ")", holds));
    }

    private static void flatOut(Bench bench, Report report, VivServer server, List<String> sessions) {
        var result = Crowd.during(SESSIONS, Duration.ofMillis(bench.rounds(10_000)), command(server, sessions));
        result.printFailures();
        double perMinute = result.perSecond() * 60;
        report.add(Row.rate("load: the same as fast as it goes", "/min", perMinute)
                .held("all succeed, >= 1,000", result.failures().isEmpty() && perMinute >= COMMANDS_A_MINUTE));
    }

    private static IntFunction<Crowd.Member> command(VivServer server, List<String> sessions) {
        return caller -> new Caller(
                server.connect(), (http, _) -> VivServer.execute(http, sessions.get(caller % SESSIONS), "echo hello"));
    }

    /// Half of the operations are writes, half are reads of the written files.
    private static void fileOperations(Bench bench, Report report, VivServer server, List<String> sessions) {
        byte[] content = new byte[FILE_SIZE];
        new Random(FILE_SIZE).nextBytes(content);
        var wanted = Http.Received.of(content);
        var result = Crowd.turns(
                FILE_CALLERS,
                bench.rounds(10),
                caller -> new Caller(server.connect(), (http, _) -> {
                    String session = sessions.get(caller % SESSIONS);
                    String name = "file-" + caller;
                    VivServer.upload(http, session, name, content);
                    if (!VivServer.download(http, session, name).equals(wanted)) {
                        throw new IllegalStateException("other bytes came back");
                    }
                }));
        result.printFailures();
        report.add(Row.of("load: 100 concurrent writes and reads, 64 KB", result.samples())
                .held(
                        "all succeed, same bytes (" + result.samples().count() + ")",
                        result.failures().isEmpty()));
    }

    private static void churn(Bench bench, Report report, VivServer server) {
        Set<String> ids = ConcurrentHashMap.newKeySet();
        Quiet.await();
        var result = Crowd.turns(
                CHURNERS,
                bench.rounds(40),
                caller -> new Caller(server.connect(), (http, _) -> {
                    String session = VivServer.create(http, "churn-" + caller);
                    ids.add(session);
                    VivServer.execute(http, session, "echo hello > file; sleep 1000 &");
                    VivServer.cleanup(http, session);
                }));
        result.printFailures();
        Set<String> left = Traces.awaitNone(ids, server.home());
        left.stream().limit(10).forEach(trace -> System.err.println("  left: " + trace));
        report.add(Row.rate("load: churn, create to cleanup", "/s", result.perSecond())
                .held(
                        "all succeed (" + result.samples().count() + ")",
                        result.failures().isEmpty())
                .held("nothing left", left.isEmpty()));
    }
}
