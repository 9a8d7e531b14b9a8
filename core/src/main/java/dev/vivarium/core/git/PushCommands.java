package dev.vivarium.core.git;

import dev.vivarium.model.BranchName;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Head of a push: the commands that change references on the remote. Immutable.
///
/// @param bytes        the head as received, with its flush packet
/// @param commands     in their order; empty for a probe
/// @param capabilities that git has chosen
public record PushCommands(byte[] bytes, List<Update> commands, Set<String> capabilities) {
    private static final int MAX_HEAD = 64 * 1024;
    private static final int LENGTH = 4;
    private static final Pattern COMMAND =
            Pattern.compile("([0-9a-f]{40}|[0-9a-f]{64}) ([0-9a-f]{40}|[0-9a-f]{64}) (\\S+)");
    private static final Pattern SHALLOW = Pattern.compile("shallow ([0-9a-f]{40}|[0-9a-f]{64})");
    private static final Pattern ZEROS = Pattern.compile("0+");

    /// Change of one reference.
    public record Update(String ref, boolean isDeletion) {}

    public PushCommands {
        commands = List.copyOf(commands);
        capabilities = Set.copyOf(capabilities);
    }

    /// Reads the head of a push and nothing after it. Throws [IllegalArgumentException] for a head that is invalid
    /// or unsupported.
    public static PushCommands read(InputStream in) throws IOException {
        var head = new ByteArrayOutputStream();
        var commands = new ArrayList<Update>();
        Set<String> capabilities = Set.of();
        for (byte[] line = line(in, head); line.length > 0; line = line(in, head)) {
            String text = new String(line, StandardCharsets.UTF_8).stripTrailing();
            int nul = text.indexOf('\0');
            if (nul >= 0) {
                capabilities = Set.of(text.substring(nul + 1).strip().split(" +"));
            }
            update(nul < 0 ? text : text.substring(0, nul)).ifPresent(commands::add);
        }
        return new PushCommands(head.toByteArray(), commands, capabilities);
    }

    private static Optional<Update> update(String text) {
        Matcher command = COMMAND.matcher(text);
        if (command.matches()) {
            boolean isDeletion = ZEROS.matcher(command.group(2)).matches();
            return Optional.of(new Update(command.group(3), isDeletion));
        }
        if (!SHALLOW.matcher(text).matches()) {
            throw new IllegalArgumentException("the push has a command that is not supported");
        }
        return Optional.empty();
    }

    /// Returns the next line, or nothing for a flush packet.
    private static byte[] line(InputStream in, ByteArrayOutputStream head) throws IOException {
        byte[] size = exactly(in, LENGTH);
        int length = PacketLines.length(size, 0);
        head.writeBytes(size);
        if (length == 0) {
            return new byte[0];
        }
        if (length <= LENGTH || head.size() + length > MAX_HEAD) {
            throw new IllegalArgumentException("the push has too many commands, or an invalid one");
        }
        byte[] line = exactly(in, length - LENGTH);
        head.writeBytes(line);
        return line;
    }

    private static byte[] exactly(InputStream in, int length) throws IOException {
        byte[] bytes = in.readNBytes(length);
        if (bytes.length < length) {
            throw new EOFException("the push ended in the middle of its commands");
        }
        return bytes;
    }

    /// Returns why a run may not push this, or nothing if it may.
    public Optional<String> refusal(BranchName branch) {
        if (capabilities.contains("push-options")) {
            return Optional.of("push options are not supported");
        }
        for (Update update : commands) {
            if (!update.ref.equals(branch.ref())) {
                return Optional.of("this run may push only to " + branch);
            }
            if (update.isDeletion) {
                return Optional.of("a run may not delete its branch");
            }
        }
        return Optional.empty();
    }

    /// Returns the response of a remote that refuses all commands, in the form that git shows to its user.
    public byte[] rejection(String reason) {
        var report = new ByteArrayOutputStream();
        report.writeBytes(PacketLines.packet("unpack ok\n"));
        commands.forEach(update -> report.writeBytes(PacketLines.packet("ng " + update.ref + " " + reason + "\n")));
        report.writeBytes(flush());
        if (!capabilities.contains("side-band-64k") && !capabilities.contains("side-band")) {
            return report.toByteArray();
        }
        var banded = new ByteArrayOutputStream();
        banded.writeBytes(PacketLines.packet(band(report.toByteArray())));
        banded.writeBytes(flush());
        return banded.toByteArray();
    }

    private static byte[] band(byte[] data) {
        try (var out = new ByteArrayOutputStream()) {
            out.write(1);
            out.write(data);
            return out.toByteArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] flush() {
        return "0000".getBytes(StandardCharsets.US_ASCII);
    }
}
