package dev.vivarium.core.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxId;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class GoldenTest {
    static List<Golden> all() {
        return Golden.all();
    }

    static List<Golden> sentByTheGuest() {
        return all().stream().filter(Golden::isSentByTheGuest).toList();
    }

    static List<Golden> sentByTheHost() {
        return all().stream().filter(golden -> !golden.isSentByTheGuest()).toList();
    }

    @ParameterizedTest
    @MethodSource("all")
    void textEncodesToTheGoldenBytes(Golden golden) {
        var payload = new Payload();
        golden.fields().forEach(field -> field.write(payload));
        ByteBuffer frame = payload.frame(golden.channel(), golden.kind());
        assertThat(frame).isEqualTo(ByteBuffer.wrap(golden.bytes()));
    }

    @ParameterizedTest
    @MethodSource("all")
    void bytesDecodeToTheGoldenValues(Golden golden) {
        Fields reader = golden.reader();
        for (Golden.Field field : golden.fields()) {
            assertThat(field.read(reader)).as(field.name()).isEqualTo(field.expected());
        }
        assertThat(reader.isEmpty()).isTrue();
    }

    @ParameterizedTest
    @MethodSource("sentByTheGuest")
    void frameReaderReturnsFramesOfTheGuestUnchanged(Golden golden) {
        var seen = new ArrayList<String>();
        read(golden, (channel, kind, payload) -> {
            assertThat(payload).isEqualTo(golden.payload());
            seen.add(channel + " " + kind);
        });
        assertThat(seen).containsExactly(golden.channel() + " " + golden.kind());
    }

    @ParameterizedTest
    @MethodSource("sentByTheHost")
    void frameReaderRejectsFramesOfTheHost(Golden golden) {
        assertThatThrownBy(() -> read(golden, (_, _, _) -> {})).isInstanceOf(ProtocolViolation.class);
    }

    @Test
    void helloListsSurvivingProcesses() {
        Golden golden = Golden.named("hello-again");
        Hello hello = Hello.read(golden.reader());
        assertThat(hello.generation()).isEqualTo(1);
        assertThat(hello.survivors())
                .hasSize((int) value(golden, "count"))
                .allSatisfy(process -> assertThat(process.channel()).isPositive());
    }

    @Test
    void failureKeepsItsNumbers() {
        GuestError refusal = GuestError.read(Golden.named("fail").reader());
        var id = SandboxId.random(new SecureRandom());
        assertThat(refusal.about(new RequestSubject.File("a"), id))
                .isEqualTo(new Failure.FileTooLarge(104857600, 104857601));
    }

    @Test
    void statisticsAreReadInFieldOrder() {
        Golden golden = Golden.named("end-stats");
        GuestStats stats = GuestStats.read(golden.reader());
        List<Long> values = golden.fields().stream().map(Golden.Field::number).toList();
        assertThat(List.of(
                        (long) stats.processes(),
                        stats.cpu().toNanos() / 1_000,
                        stats.memoryBytes(),
                        stats.diskTotal(),
                        stats.diskFree(),
                        stats.inodesTotal(),
                        stats.inodesFree(),
                        stats.uptime().toMillis()))
                .isEqualTo(values);
    }

    private static void read(Golden golden, FrameReader.Sink sink) {
        var reader = new FrameReader();
        reader.allowFullFrames();
        reader.read(ByteBuffer.wrap(golden.bytes()), sink);
    }

    private static long value(Golden golden, String type) {
        return golden.fields().stream()
                .filter(field -> field.type().equals(type))
                .findFirst()
                .orElseThrow()
                .number();
    }
}
