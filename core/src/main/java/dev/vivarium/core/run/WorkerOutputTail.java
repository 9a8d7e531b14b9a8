package dev.vivarium.core.run;

import dev.vivarium.core.exec.ManagedProcess;
import dev.vivarium.core.exec.OutputFollower;
import dev.vivarium.model.Exit;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/// Last output of a worker. Confined to one thread.
final class WorkerOutputTail {
    private static final Duration BREATH = Duration.ofSeconds(5);
    private static final int KEPT = 4 * 1024;

    private byte[] tail = new byte[0];

    /// Waits for the exit of the worker. Returns nothing if `stopped` becomes true first. Throws if the worker is
    /// lost.
    Optional<Exit> await(ManagedProcess process, BooleanSupplier stopped) {
        OutputFollower follower = process.follow();
        while (!stopped.getAsBoolean()) {
            switch (follower.next(BREATH)) {
                case OutputFollower.News.Output output -> add(output.bytes());
                case OutputFollower.News.Quiet _ -> {}
                case OutputFollower.News.Exited(Exit exit) -> {
                    return Optional.of(exit);
                }
            }
        }
        return Optional.empty();
    }

    private void add(byte[] bytes) {
        var all = new ByteArrayOutputStream(tail.length + bytes.length);
        all.writeBytes(tail);
        all.writeBytes(bytes);
        byte[] joined = all.toByteArray();
        tail = Arrays.copyOfRange(joined, Math.max(0, joined.length - KEPT), joined.length);
    }

    String text() {
        return new String(tail, StandardCharsets.UTF_8).strip();
    }
}
