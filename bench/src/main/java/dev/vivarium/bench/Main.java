package dev.vivarium.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// Entry point of `make bench`: runs the measurements in sequence, prints one table and writes it as JSON. Stateless.
public final class Main {
    private Main() {}

    /// Returns the measurements in the order of their execution.
    private static Map<String, Measurement> measurements() {
        var all = new LinkedHashMap<String, Measurement>();
        all.put("exec", new ExecLatency());
        all.put("token", new TokenCheck());
        all.put("create", new CreateLatency());
        all.put("files", new FileTransfer());
        all.put("throughput", new ExecThroughput());
        all.put("density", new Density());
        all.put("pause", new PauseLatency());
        all.put("fork", new ForkLatency());
        all.put("stdout", new Bandwidth());
        all.put("heap", new SmallHeap());
        all.put("resident", new ResidentMemory());
        all.put("preview", new PreviewHeap());
        all.put("shell", new ShellLatency());
        all.put("crowd", new ShellCrowd());
        all.put("log", new Log());
        all.put("tasks", new TaskRuns());
        all.put("guardian", new GuardianPass());
        all.put("chaos", new Chaos());
        all.put("start", new StartUp());
        all.put("cli", new CommandStart());
        all.put("attacks", new Attacks());
        all.put("neighbours", new Neighbours());
        all.put("burst", new Burst());
        all.put("load", new Load());
        return all;
    }

    public static void main(String[] arguments) throws IOException {
        Map<String, Measurement> measurements = measurements();
        Options options;
        try {
            options = Options.parse(List.of(arguments));
            options.only().ifPresent(name -> keepOnly(measurements, name));
        } catch (IllegalArgumentException wrong) {
            String names = String.join(", ", measurements.keySet());
            System.err.printf(wrong.getMessage() + "%n" + Options.USAGE, names);
            System.exit(2);
            return;
        }
        Report report;
        try (var bench = Bench.open(options)) {
            report = new Report(circumstances(bench, options));
            measurements.forEach((name, measurement) -> measure(bench, report, name, measurement));
        }
        System.out.print(report.table());
        Files.createDirectories(options.output().toAbsolutePath().getParent());
        Files.writeString(options.output(), report.json());
        System.err.println("written to " + options.output());
        System.exit(options.misses() == Options.Misses.FAIL && !report.allHold() ? 1 : 0);
    }

    private static void keepOnly(Map<String, Measurement> measurements, String name) {
        if (!measurements.containsKey(name)) {
            throw new IllegalArgumentException("there is no measurement " + name);
        }
        measurements.keySet().retainAll(List.of(name));
    }

    /// A failed measurement does not stop the others.
    private static void measure(Bench bench, Report report, String name, Measurement measurement) {
        if (bench.isAbandoned()) {
            return;
        }
        System.err.println(name);
        try {
            measurement.run(bench, report);
        } catch (RuntimeException failure) {
            failure.printStackTrace();
            report.addBroken(name, failure);
        }
    }

    private static Map<String, String> circumstances(Bench bench, Options options) throws IOException {
        var facts = new LinkedHashMap<String, String>();
        facts.put("measured_at", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
        facts.put("length", options.length().name().toLowerCase(Locale.ROOT));
        facts.put("processors", Integer.toString(Runtime.getRuntime().availableProcessors()));
        facts.put(
                "memory",
                Files.readAllLines(Path.of("/proc/meminfo")).getFirst().replaceAll("\\s+", " "));
        facts.put("kernel", System.getProperty("os.version"));
        facts.put("java", Runtime.version().toString());
        facts.put("image", bench.image());
        facts.put("docker", bench.docker().map(Docker::version).orElse("none"));
        return facts;
    }
}
