package dev.vivarium.core.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.exec.Beginning;
import dev.vivarium.model.EventData;
import dev.vivarium.model.ExecEvent.Stream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CommandStoryTest {
    private final List<String> events = new ArrayList<>();
    private long nanos;
    private final CommandStory story = story(CommandStory.Pace.COMMAND);

    @Test
    void theFirstWordsGoAtOnceAndTheRestTogether() {
        say("one");
        say("two");
        say("three");
        assertThat(events).containsExactly("command.output {\"pid\":7,\"stdout\":\"one\"}");

        story.left();

        assertThat(events.get(1)).isEqualTo("command.output {\"pid\":7,\"stdout\":\"twothree\"}");
        assertThat(events.get(2)).isEqualTo("command.completed {\"pid\":7,\"cause\":\"cancelled\"}");
        assertThat(events.get(3)).isEqualTo("over");
    }

    @Test
    void whatWasCollectedIsToldByTheBeatAndSilenceIsNot() {
        say("one");
        say("two");

        story.beat();
        assertThat(events).hasSize(1);
        nanos += Duration.ofMillis(100).toNanos();
        story.beat();
        assertThat(events).hasSize(2);
        nanos += Duration.ofMillis(100).toNanos();
        story.beat();
        assertThat(events).hasSize(2);
    }

    @Test
    void aFloodIsFoldedAndTheFoldingIsVisible() {
        say("first");
        say("x".repeat(100_000));
        say("more");
        story.left();

        assertThat(events.get(1)).contains("\"folded_bytes\":" + (100_000 + 4 - 8 * 1024));
        assertThat(events.get(1).length()).isLessThan(9_000);
    }

    @Test
    void aCharacterInTwoPiecesIsNotTorn() {
        byte[] euro = "€".getBytes(StandardCharsets.UTF_8);
        story.output(Stream.STDERR, new byte[] {euro[0], euro[1]});
        story.output(Stream.STDERR, new byte[] {euro[2]});
        story.left();

        assertThat(String.join("", events)).contains("\"stderr\":\"€\"").doesNotContain("\ufffd");
    }

    @Test
    void itEndsOnce() {
        story.left();
        story.left();

        assertThat(events).hasSize(2);
    }

    @Test
    void anObjectOfOursIsJsonWhateverItSays() {
        assertThat(EventData.of("a\"b", "\\ \n \u0001 €\ud83d").with("n", 1).text())
                .isEqualTo("{\"a\\\"b\":\"\\\\ \\n \\u0001 €\\ud83d\",\"n\":1}");
    }

    private void say(String text) {
        story.output(Stream.STDOUT, text.getBytes(StandardCharsets.UTF_8));
    }

    private CommandStory story(CommandStory.Pace pace) {
        return new CommandStory(
                EventData.of("pid", 7),
                pace,
                (type, data) -> events.add(type + " " + data.text()),
                () -> events.add("over"),
                () -> nanos);
    }

    @Test
    void aTerminalIsToldByTheBeatAlone() {
        var shell = story(CommandStory.Pace.TERMINAL);
        shell.output(Stream.STDOUT, bytes("$ ls"));
        assertThat(events).isEmpty();

        shell.beat();
        assertThat(events).containsExactly("command.output {\"pid\":7,\"stdout\":\"$ ls\"}");
    }

    @Test
    void whatAnEarlierServerToldIsNotToldAgain() {
        var place = new CommandStory.Bookmark(new Beginning.Place(10, 0), new Beginning.Place(13, 0));
        var found = story(CommandStory.Pace.COMMAND).continued(place);
        found.output(Stream.STDOUT, bytes("ab"));
        found.output(Stream.STDOUT, bytes("cde"));
        found.lost();

        assertThat(events).containsExactly("command.output {\"pid\":7,\"stdout\":\"de\",\"stdout_end\":15}", "over");
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
