package dev.vivarium.bench;

import dev.vivarium.bench.Report.Row;
import java.util.Map;

/// Concurrent creation of sandboxes by a hundred callers, far more than the pool holds. Each must get a working
/// sandbox.
final class Burst implements Measurement {
    private static final int CALLERS = 100;

    @Override
    public void run(Bench bench, Report report) {
        try (var server = bench.startServer(Map.of("POOL_SIZE", "10", "VIV_MAX_SANDBOXES", "200"))) {
            server.awaitPool(10);
            Quiet.await();
            var result = Crowd.turns(
                    CALLERS,
                    1,
                    caller -> new Caller(server.connect(), (http, _) -> {
                        String session = VivServer.create(http, "burst-" + caller);
                        VivServer.execute(http, session, "echo ready");
                    }));
            result.printFailures();
            int served = result.samples().count();
            report.add(Row.of("load: 100 simultaneous creations, to output", result.samples())
                    .held("all succeed (" + served + " of " + CALLERS + ")", served == CALLERS));
        }
    }
}
