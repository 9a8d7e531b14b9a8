package dev.vivarium.bench;

import dev.vivarium.bench.Report.Row;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/// Latency from the call of an intervention to the end of the response to a waiting worker.
final class InterventionLatency implements Measurement {
    private static final double MAX_MILLIS = 100;
    private static final int WARM_UP = 100;

    @Override
    public void run(Bench bench, Report report) {
        var samples = new Samples();
        try (var server = bench.startServer(Map.of("POOL_SIZE", "0"));
                var caller = server.connect();
                var worker = server.connect();
                var workers = Executors.newSingleThreadExecutor()) {
            String path = "/api/v1/sandboxes/" + VivServer.create(caller, "intervene");
            for (int round = -WARM_UP; round < bench.rounds(500); round++) {
                if (round == 0) {
                    samples.clear();
                    Quiet.await();
                }
                String text = "use the other API " + round;
                var received = workers.submit(() -> receive(worker, path, text));
                long start = System.nanoTime();
                caller.post(path + "/interventions", "{\"message\":\"" + text + "\"}")
                        .expect(202);
                samples.add(await(received) - start);
            }
        }
        double p95 = samples.percentile(95);
        report.add(Row.of("intervention -> read by a waiting worker", samples)
                .held("p95 under 100 ms: " + Report.number(p95), p95 < MAX_MILLIS));
    }

    private static long receive(Http worker, String path, String text) {
        String answer = worker.get(path + "/messages?wait=30").expect(200).text();
        long now = System.nanoTime();
        if (!answer.contains(text)) {
            throw new IllegalStateException("heard " + answer);
        }
        return now;
    }

    private static long await(Future<Long> received) {
        try {
            return received.get();
        } catch (ExecutionException failure) {
            throw new IllegalStateException(failure.getCause());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(interrupted);
        }
    }
}
