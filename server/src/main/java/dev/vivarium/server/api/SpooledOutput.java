package dev.vivarium.server.api;

import dev.vivarium.core.ByteBudget;
import dev.vivarium.json.ExecJson;
import dev.vivarium.model.Command;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.operation.RunningCommand;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.SequenceInputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/// Output of a command until the server writes the response. Confined to one worker.
///
/// The beginning of each stream is in memory and the rest in an unnamed file. Both count against a budget.
final class SpooledOutput implements AutoCloseable {
    /// Bytes that each stream may hold in memory without a reservation, and with one.
    private static final int FREE = 64 * 1024;

    private static final int RESERVED = 256 * 1024;

    private final Exchange exchange;
    private final Path directory;
    private final ByteBudget.Reservation onDisk;
    private final Part stdout = new Part();
    private final Part stderr = new Part();

    /// Storage for the output of all commands.
    ///
    /// @param directory for the files
    /// @param budget    for the bytes in the files
    record Position(Path directory, ByteBudget budget) {
        SpooledOutput open(Exchange exchange) {
            return new SpooledOutput(exchange, this);
        }
    }

    private SpooledOutput(Exchange exchange, Position place) {
        this.exchange = exchange;
        this.directory = place.directory();
        this.onDisk = place.budget().open(exchange.principal().name().value());
    }

    /// Waits until the command exits and stores its output, up to [Command#OUTPUT_LIMIT] bytes of each stream.
    Exit await(RunningCommand command) {
        while (true) {
            switch (command.next()) {
                case ExecEvent.Started _ -> {}
                case ExecEvent.Output(ExecEvent.Stream stream, byte[] bytes) ->
                    (stream == ExecEvent.Stream.STDOUT ? stdout : stderr).add(bytes);
                case ExecEvent.Exited(Exit exit) -> {
                    return exit;
                }
            }
        }
    }

    /// Writes the response piece by piece.
    void write(JsonGenerator out, Exit exit) {
        boolean truncated = exit.stdoutBytes() > Command.OUTPUT_LIMIT || exit.stderrBytes() > Command.OUTPUT_LIMIT;
        var output = new ExecJson.Output(stdout.text(), stderr.text(), truncated);
        ExecJson.RESULT.writeFields(out, new ExecJson.Ended(exit, output));
    }

    @Override
    public void close() throws IOException {
        try (onDisk;
                var first = stdout.file;
                var second = stderr.file) {
            // Closes all three, even if closing one of them fails.
        }
    }

    private final class Part {
        private final ByteArrayOutputStream memory = new ByteArrayOutputStream(256);
        private int maxInMemory = FREE;
        private long kept;
        private @Nullable SpoolFile file;

        void add(byte[] bytes) {
            int length = (int) Math.min(bytes.length, Command.OUTPUT_LIMIT - kept);
            kept += length;
            if (file == null && memory.size() + length > maxInMemory && maxInMemory == FREE) {
                // Twice the size, because a buffer exists twice while it grows. Without memory, the output goes to
                // disk.
                maxInMemory = exchange.tryReserve(2 * RESERVED) ? RESERVED : FREE - 1;
            }
            if (file == null && memory.size() + length <= maxInMemory) {
                memory.write(bytes, 0, length);
            } else if (length > 0) {
                onDisk.add(length);
                spool(bytes, length);
            }
        }

        private void spool(byte[] bytes, int length) {
            try {
                if (file == null) {
                    file = SpoolFile.in(directory, Command.OUTPUT_LIMIT);
                }
                file.write(bytes, 0, length);
            } catch (UncheckedIOException e) {
                throw new SandboxException(
                        new Failure.ProviderFailed("keep the output of a command", String.valueOf(e.getCause())), e);
            }
        }

        ExecJson.Text text() {
            if (file == null) {
                return ExecJson.Text.of(memory.toString(StandardCharsets.UTF_8));
            }
            InputStream all = new SequenceInputStream(new ByteArrayInputStream(memory.toByteArray()), file.read());
            return ExecJson.Text.of(new InputStreamReader(all, StandardCharsets.UTF_8));
        }
    }
}
