package dev.vivarium.core.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.model.EventData;
import dev.vivarium.model.ExecEvent.Stream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CommandStoryTest {
    private final List<String> events = new ArrayList<>();
    private final CommandStory story =
            new CommandStory(7, (type, data) -> events.add(type + " " + data.text()), () -> events.add("over"));

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

        await().untilAsserted(() -> {
            story.beat();
            assertThat(events).hasSize(2);
        });
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
}
