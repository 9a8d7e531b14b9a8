package dev.vivarium.bench;

import dev.vivarium.bench.Report.Row;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.IntConsumer;

/// Latency of the command line: `viv --version`, and `viv threads` as an example of a listing.
///
/// It measures from the start of the process to its end.
final class CommandStart implements Measurement {
    private static final int ROUNDS = 20;
    private static final int THREADS = 20;
    private static final double MAX_VERSION_MILLIS = 100;
    private static final double MAX_LIST_MILLIS = 400;

    private final Samples version = new Samples();
    private final Samples list = new Samples();

    @Override
    public void run(Bench bench, Report report) {
        try (var server = bench.startServer(Map.of("POOL_SIZE", "0"))) {
            server.createAll("listed-", THREADS);
            Path home = server.home();
            var environment = Map.of(
                    "VIV_SERVER", server.address(),
                    "VIV_HOME", home.toString(),
                    "XDG_CONFIG_HOME", home.resolve("config").toString(),
                    "XDG_STATE_HOME", home.resolve("state").toString());
            Quiet.await();
            // The first run of each fills the page cache.
            IntConsumer round = _ -> {
                version.time(() -> bench.viv(environment, "--version"));
                list.time(() -> bench.viv(environment, "threads"));
            };
            Samples.alternate(1, ROUNDS, round, version, list);
        }
        report.add(Row.of("viv --version", version).held("<= 100 ms", version.p50() <= MAX_VERSION_MILLIS));
        report.add(Row.of("viv threads, 20 of them", list).held("<= 400 ms", list.p50() <= MAX_LIST_MILLIS));
    }
}
