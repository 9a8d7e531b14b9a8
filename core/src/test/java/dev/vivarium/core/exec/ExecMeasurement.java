package dev.vivarium.core.exec;

import dev.vivarium.core.guest.Guest;
import dev.vivarium.core.guest.RealGuest;
import dev.vivarium.model.Command;
import dev.vivarium.model.ExecEvent;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.Callable;

/// Benchmark of commands over the wire against direct processes; not a test. Arguments: rounds, megabytes.
final class ExecMeasurement {
    private static final long MEGABYTE = 1_000_000;

    private ExecMeasurement() {}

    public static void main(String[] arguments) throws Exception {
        int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 2_000;
        long bytes = (arguments.length > 1 ? Long.parseLong(arguments[1]) : 1_000) * MEGABYTE;
        try (var real = RealGuest.start()) {
            Guest guest = real.guest();
            for (int i = 0; i < 2; i++) {
                latency("ping", rounds, () -> guest.pingWithin(Duration.ofSeconds(5)));
                latency("exec /bin/true, platform worker", rounds, () -> exec(guest));
                onVirtual(() -> latency("exec /bin/true, virtual thread", rounds, () -> exec(guest)));
                latency("ProcessBuilder /bin/true", rounds / 4, ExecMeasurement::bare);
                bandwidth("stdout, platform worker", bytes, () -> stdout(guest, bytes));
                onVirtual(() -> bandwidth("stdout, virtual thread", bytes, () -> stdout(guest, bytes)));
                bandwidth("stdin", bytes, () -> stdin(guest, bytes));
                besideAFlood(
                        guest,
                        () -> latency("ping beside a flood", rounds, () -> guest.pingWithin(Duration.ofSeconds(5))));
                bandwidth("bare pipe to /dev/null", bytes, () -> barePipe(bytes));
            }
        }
    }

    private static Object exec(Guest guest) {
        try (var execution = Execution.start(guest, Command.of("/bin/true"))) {
            return execution.collect();
        }
    }

    private static Object bare() throws IOException, InterruptedException {
        return new ProcessBuilder("/bin/true")
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
    }

    private static Object stdout(Guest guest, long bytes) {
        Command command =
                Command.of("head", "-c", Long.toString(bytes), "/dev/zero").withOutputLimit(Command.UNLIMITED);
        long seen = 0;
        try (var execution = Execution.start(guest, command)) {
            while (true) {
                switch (execution.next()) {
                    case ExecEvent.Started _ -> {}
                    case ExecEvent.Output output -> seen += output.bytes().length;
                    case ExecEvent.Exited _ -> {
                        if (seen != bytes) {
                            throw new IllegalStateException(seen + " bytes came");
                        }
                        return seen;
                    }
                }
            }
        }
    }

    private static Object stdin(Guest guest, long bytes) {
        var block = new byte[1 << 16];
        try (var execution =
                Execution.start(guest, Command.shell("cat >/dev/null").withInput(Command.Input.STREAM))) {
            for (long sent = 0; sent < bytes; sent += block.length) {
                execution.write(block, 0, block.length);
            }
            execution.closeInput();
            return execution.collect();
        }
    }

    private static void besideAFlood(Guest guest, Step step) throws Exception {
        Command flood = Command.of("cat", "/dev/zero").withOutputLimit(Command.UNLIMITED);
        try (var execution = Execution.start(guest, flood)) {
            Thread reader = Thread.ofVirtual().start(() -> {
                while (!execution.next().isLast()) {
                    // Keeps the stream as busy as possible.
                }
            });
            step.run();
            execution.close();
            reader.join();
        }
    }

    private static Object barePipe(long bytes) throws IOException, InterruptedException {
        String script = "head -c " + bytes + " /dev/zero | cat >/dev/null";
        return new ProcessBuilder("bash", "-c", script).start().waitFor();
    }

    private static void latency(String name, int rounds, Callable<Object> once) throws Exception {
        var nanos = new long[rounds];
        for (int i = 0; i < rounds; i++) {
            long began = System.nanoTime();
            once.call();
            nanos[i] = System.nanoTime() - began;
        }
        Arrays.sort(nanos);
        System.out.printf(
                Locale.ROOT,
                "%-34s p50 %8.1f us   p99 %8.1f us%n",
                name,
                nanos[rounds / 2] / 1e3,
                nanos[rounds * 99 / 100] / 1e3);
    }

    private static void bandwidth(String name, long bytes, Callable<Object> once) throws Exception {
        long began = System.nanoTime();
        once.call();
        double seconds = (System.nanoTime() - began) / 1e9;
        System.out.printf(Locale.ROOT, "%-34s %8.0f MB/s%n", name, bytes / seconds / MEGABYTE);
    }

    private interface Step {
        void run() throws Exception;
    }

    private static void onVirtual(Step step) throws InterruptedException {
        Thread.ofVirtual()
                .start(() -> {
                    try {
                        step.run();
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                })
                .join();
    }
}
