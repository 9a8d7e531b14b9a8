package dev.vivarium.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/// Wait for an idle machine, so that earlier measurements and other programs do not affect a measurement. Stateless.
final class Quiet {
    private static final Duration LOOK = Duration.ofMillis(500);
    private static final int LOOKS = 20;
    private static final double IDLE_ENOUGH = 0.85;

    private Quiet() {}

    /// Returns when the processors are mostly idle. After ten seconds, it prints a warning and continues.
    static void await() {
        long[] before = ticks();
        double idle = 0;
        for (int i = 0; i < LOOKS; i++) {
            Programs.pause(LOOK);
            long[] now = ticks();
            idle = (now[0] - before[0]) / (double) Math.max(1, now[1] - before[1]);
            if (idle >= IDLE_ENOUGH) {
                return;
            }
            before = now;
        }
        System.err.printf("  note: the machine is busy (%.0f %% idle); expect noise%n", idle * 100);
    }

    /// Returns the idle ticks and all ticks of all processors since boot.
    private static long[] ticks() {
        try (var lines = Files.lines(Path.of("/proc/stat"))) {
            String[] fields = lines.findFirst().orElseThrow().trim().split("\\s+");
            long all = 0;
            for (int i = 1; i < Math.min(fields.length, 9); i++) {
                all += Long.parseLong(fields[i]);
            }
            return new long[] {Long.parseLong(fields[4]) + Long.parseLong(fields[5]), all};
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
