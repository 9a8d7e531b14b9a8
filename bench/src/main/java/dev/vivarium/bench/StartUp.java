package dev.vivarium.bench;

import dev.vivarium.bench.Report.Row;
import java.time.Duration;
import java.util.Map;

/// Time from the start of the server process to the line that reports readiness, on a home that was used before.
final class StartUp implements Measurement {
    private static final int STARTS = 5;
    private static final Duration MOST = Duration.ofSeconds(1);

    @Override
    public void run(Bench bench, Report report) {
        var home = bench.newHome();
        var samples = new Samples();
        for (int i = -1; i < STARTS; i++) {
            Quiet.await();
            var server = bench.startServer(home, Map.of());
            if (i >= 0) {
                samples.add(server.startTime().toNanos());
            }
            if (i + 1 < STARTS) {
                server.stop();
            } else {
                server.close();
            }
        }
        report.add(Row.of("server start to ready, image prepared", samples)
                .held("<= 1 s", samples.p50() <= MOST.toMillis()));
    }
}
