package dev.vivarium.core.git;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.model.BranchName;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PushCommandsTest {
    private static final String OLD = "1".repeat(40);
    private static final String NEW = "2".repeat(40);
    private static final String NONE = "0".repeat(40);
    private static final BranchName BRANCH = new BranchName("feature/T-1");
    private static final String FLUSH = "0000";

    private static ByteArrayInputStream push(String... lines) {
        var bytes = new ByteArrayOutputStream();
        for (String line : lines) {
            bytes.writeBytes(line.equals(FLUSH) ? line.getBytes(StandardCharsets.UTF_8) : PacketLines.packet(line));
        }
        bytes.writeBytes("PACK…".getBytes(StandardCharsets.UTF_8));
        return new ByteArrayInputStream(bytes.toByteArray());
    }

    private static Optional<String> refusal(String... lines) throws IOException {
        return PushCommands.read(push(lines)).refusal(BRANCH);
    }

    @Test
    void theBranchOfTheRunMayBePushed() throws IOException {
        var in = push(OLD + " " + NEW + " refs/heads/feature/T-1\0 report-status side-band-64k", FLUSH);
        var commands = PushCommands.read(in);

        assertThat(commands.refusal(BRANCH)).isEmpty();
        assertThat(commands.capabilities()).contains("report-status", "side-band-64k");
        assertThat(new String(in.readAllBytes(), StandardCharsets.UTF_8)).isEqualTo("PACK…");
        assertThat(new String(commands.bytes(), StandardCharsets.UTF_8)).endsWith(FLUSH);
    }

    @Test
    void aShallowCloneMayPush() throws IOException {
        assertThat(refusal("shallow " + OLD, OLD + " " + NEW + " refs/heads/feature/T-1\0x", FLUSH))
                .isEmpty();
    }

    @Test
    void aProbeHasNoCommands() throws IOException {
        assertThat(refusal(FLUSH)).isEmpty();
    }

    @Test
    void everyOtherReferenceIsRefused() throws IOException {
        assertThat(refusal(OLD + " " + NEW + " refs/heads/main\0x", FLUSH)).isPresent();
        assertThat(refusal(OLD + " " + NEW + " refs/heads/feature/T-10\0x", FLUSH))
                .isPresent();
        assertThat(refusal(OLD + " " + NEW + " refs/tags/v1\0x", FLUSH)).isPresent();
        assertThat(refusal(OLD + " " + NEW + " refs/for/main\0x", FLUSH)).isPresent();
        assertThat(refusal(OLD + " " + NEW + " refs/heads/feature/T-1\0x", OLD + " " + NEW + " refs/heads/main", FLUSH))
                .isPresent();
        assertThat(refusal(OLD + " " + NONE + " refs/heads/feature/T-1\0x", FLUSH))
                .isPresent();
    }

    @Test
    void pushOptionsAreRefused() throws IOException {
        assertThat(refusal(OLD + " " + NEW + " refs/heads/feature/T-1\0report-status push-options", FLUSH))
                .hasValueSatisfying(reason -> assertThat(reason).contains("push options"));
    }

    @Test
    void anInvalidHeadIsRejected() {
        assertThatThrownBy(() -> PushCommands.read(push("push-cert\0x", FLUSH)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> PushCommands.read(new ByteArrayInputStream("zzzz".getBytes(StandardCharsets.UTF_8))))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> PushCommands.read(new ByteArrayInputStream("0001".getBytes(StandardCharsets.UTF_8))))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> PushCommands.read(new ByteArrayInputStream("00ff".getBytes(StandardCharsets.UTF_8))))
                .isInstanceOf(EOFException.class);
        String[] many = new String[2000];
        java.util.Arrays.fill(many, OLD + " " + NEW + " refs/heads/main");
        assertThatThrownBy(() -> PushCommands.read(push(many))).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aRejectionHasTheFormOfGit() throws IOException {
        String command = OLD + " " + NEW + " refs/heads/main\0report-status";
        String plain = new String(PushCommands.read(push(command, FLUSH)).rejection("no"), StandardCharsets.UTF_8);
        String banded = new String(
                PushCommands.read(push(command + " side-band-64k", FLUSH)).rejection("no"), StandardCharsets.UTF_8);

        assertThat(plain).isEqualTo("000eunpack ok\n001ang refs/heads/main no\n0000");
        assertThat(banded).isEqualTo("0031" + "\1" + "000eunpack ok\n001ang refs/heads/main no\n00000000");
    }
}
