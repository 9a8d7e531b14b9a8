package dev.vivarium.core.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.exec.CommandStarted;
import dev.vivarium.json.EventBodyJson;
import dev.vivarium.model.CommandEvent;
import dev.vivarium.model.ExecEvent.Stream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CommandEventsTest {
    private final List<String> events = new ArrayList<>();
    private long nanos;
    private final CommandEvents commandEvents = commandEvents(CommandEvents.PublishLimits.COMMAND);

    @Test
    void firstOutputIsPublishedImmediatelyAndTheRestTogether() {
        print("one");
        print("two");
        print("three");
        assertThat(events).containsExactly("command.output {\"pid\":7,\"stdout\":\"one\"}");

        commandEvents.left();

        assertThat(events.get(1)).isEqualTo("command.output {\"pid\":7,\"stdout\":\"twothree\"}");
        assertThat(events.get(2)).isEqualTo("command.completed {\"pid\":7,\"cause\":\"cancelled\"}");
        assertThat(events.get(3)).isEqualTo("over");
    }

    @Test
    void beatPublishesCollectedOutputOnly() {
        print("one");
        print("two");

        commandEvents.publishDue();
        assertThat(events).hasSize(1);
        nanos += Duration.ofMillis(100).toNanos();
        commandEvents.publishDue();
        assertThat(events).hasSize(2);
        nanos += Duration.ofMillis(100).toNanos();
        commandEvents.publishDue();
        assertThat(events).hasSize(2);
    }

    @Test
    void largeOutputIsFoldedAndTheFoldedBytesCounted() {
        print("first");
        print("x".repeat(100_000));
        print("more");
        commandEvents.left();

        assertThat(events.get(1)).contains("\"folded_bytes\":" + (100_000 + 4 - 8 * 1024));
        assertThat(events.get(1).length()).isLessThan(9_000);
    }

    @Test
    void characterSplitAcrossChunksStaysWhole() {
        byte[] euro = "€".getBytes(StandardCharsets.UTF_8);
        commandEvents.output(Stream.STDERR, new byte[] {euro[0], euro[1]});
        commandEvents.output(Stream.STDERR, new byte[] {euro[2]});
        commandEvents.left();

        assertThat(String.join("", events)).contains("\"stderr\":\"€\"").doesNotContain("\ufffd");
    }

    @Test
    void commandEndsOnce() {
        commandEvents.left();
        commandEvents.left();

        assertThat(events).hasSize(2);
    }

    private void print(String text) {
        commandEvents.output(Stream.STDOUT, text.getBytes(StandardCharsets.UTF_8));
    }

    private CommandEvents commandEvents(CommandEvents.PublishLimits publishLimits) {
        return new CommandEvents(
                new CommandEvent.Target(7, Optional.empty(), Optional.empty()),
                publishLimits,
                event -> events.add(event.type() + " " + new EventBodyJson().encode(event)),
                () -> events.add("over"),
                () -> nanos);
    }

    @Test
    void terminalOutputIsPublishedOnlyByTheBeat() {
        var shell = commandEvents(CommandEvents.PublishLimits.TERMINAL);
        shell.output(Stream.STDOUT, bytes("$ ls"));
        assertThat(events).isEmpty();

        shell.publishDue();
        assertThat(events).containsExactly("command.output {\"pid\":7,\"stdout\":\"$ ls\"}");
    }

    @Test
    void publishedOutputIsNotPublishedAgainAfterARestart() {
        var place = new CommandEvents.ResumePosition(
                new CommandStarted.Position(10, 0), new CommandStarted.Position(13, 0));
        var found = commandEvents(CommandEvents.PublishLimits.COMMAND).resumedAt(place);
        found.output(Stream.STDOUT, bytes("ab"));
        found.output(Stream.STDOUT, bytes("cde"));
        found.lost();

        assertThat(events).containsExactly("command.output {\"pid\":7,\"stdout\":\"de\",\"stdout_end\":15}", "over");
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
