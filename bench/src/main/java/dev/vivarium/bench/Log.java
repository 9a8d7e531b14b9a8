package dev.vivarium.bench;

import java.util.List;

/// Measurements of the event log.
final class Log implements Measurement {
    private static final List<Measurement> PARTS =
            List.of(new LogAppends(), new LogLatency(), new LogFanOut(), new InterventionLatency());

    @Override
    public void run(Bench bench, Report report) {
        PARTS.forEach(part -> part.run(bench, report));
    }
}
