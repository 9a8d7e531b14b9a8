package dev.vivarium.bench;

import dev.vivarium.bench.Report.Row;
import dev.vivarium.json.Json;
import java.util.Map;
import java.util.function.IntConsumer;

/// Cost of a capability token: the same command with an API key and with a token, in alternation.
final class TokenCheck implements Measurement {
    private static final int WARM_UP = 1000;
    private static final double MOST = 1.05;

    private final Samples withKey = new Samples();
    private final Samples withToken = new Samples();

    @Override
    public void run(Bench bench, Report report) {
        try (var server = bench.startServer(Map.of("POOL_SIZE", "0"));
                var key = server.connect()) {
            var issued = Json.answer(key.post("/threads/token-check/sandbox", "{\"scopes\":[\"process\"]}")
                    .expect(200)
                    .text());
            String path = "/sandboxes/" + issued.string("sandbox_id") + "/exec";
            try (var token = server.connect(issued.string("token"))) {
                Quiet.await();
                IntConsumer round = _ -> {
                    withKey.time(() -> exec(key, path));
                    withToken.time(() -> exec(token, path));
                };
                Samples.alternate(WARM_UP, bench.rounds(2000), round, withKey, withToken);
            }
        }
        report.add(Row.of("exec with an API key", withKey));
        report.add(
                Row.of("exec with a token", withToken).held("<= 1.05 x key", withToken.p50() <= MOST * withKey.p50()));
    }

    private static void exec(Http connection, String path) {
        connection.post(path, "{\"command\":\"true\"}").expect(200);
    }
}
