package dev.vivarium.bench;

import dev.vivarium.bench.Report.Row;
import java.util.Map;
import java.util.Random;

/// Transfer of large files through a server with a small heap.
///
/// Several callers transfer 100 MB in both directions at once. This works only if the server streams the content.
final class SmallHeap implements Measurement {
    private static final int SIZE = 100 * 1024 * 1024;
    private static final int CALLERS = 4;

    @Override
    public void run(Bench bench, Report report) {
        byte[] content = new byte[SIZE];
        new Random(SIZE).nextBytes(content);
        var wanted = Http.Received.of(content);
        try (var server = bench.startServer(Map.of("POOL_SIZE", "0", "VIV_JAVA_OPTS", "-Xmx256m"))) {
            Quiet.await();
            var result = Crowd.turns(
                    CALLERS,
                    bench.rounds(3),
                    caller -> new Caller(server.connect(), (http, _) -> {
                        String session = VivServer.create(http, "heap-" + caller);
                        VivServer.upload(http, session, "file", content);
                        var received = VivServer.download(http, session, "file");
                        VivServer.cleanup(http, session);
                        if (!received.equals(wanted)) {
                            throw new IllegalStateException("other bytes came back");
                        }
                    }));
            result.printFailures();
            report.add(Row.of("100 MB up and down, 4 at once, -Xmx256m", result.samples())
                    .held("all succeed, same bytes", result.failures().isEmpty()));
            report.add(Row.of(
                    "the server's memory at its peak meanwhile", "MiB", Processes.peakKib(server.pid()) / 1024.0));
        }
    }
}
