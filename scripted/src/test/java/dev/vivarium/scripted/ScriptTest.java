package dev.vivarium.scripted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Parsing and rules of scripts, and the reports of their mistakes.
class ScriptTest {
    private static Step step(String step) {
        return Script.parse("{\"steps\": [%s]}".formatted(step)).steps().getFirst();
    }

    private static Question question(String newMessages, String... tools) {
        return new Question("model", false, Set.of(tools), newMessages, 1, 100);
    }

    @Test
    void stepWithoutARuleMatchesEverything() {
        assertThat(step("{\"text\": \"x\"}").answers(question("anything"))).isTrue();
    }

    @Test
    void ruleMatchesOnlyIfAllConditionsMatch() {
        Step step = step("{\"when\": {\"contains\": [\"a\", \"b\"], \"lacks\": \"c\", \"matches\": \"a.*b\"}}");
        assertThat(step.answers(question("a\nb"))).isTrue();
        assertThat(step.answers(question("b a"))).as("matches").isFalse();
        assertThat(step.answers(question("a only"))).as("contains").isFalse();
        assertThat(step.answers(question("a b c"))).as("lacks").isFalse();
    }

    @Test
    void stepNeedsTheToolsThatItCalls() {
        Step step = step("{\"tools\": [{\"name\": \"Bash\", \"input\": {}}]}");
        assertThat(step.answers(question("go", "Bash", "Read"))).isTrue();
        assertThat(step.answers(question("give me a title"))).isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "[1]                                                     | script must be an object",
                "{\"stepz\": []}                                         | no field 'stepz'",
                "{\"steps\": [{\"wen\": {}}]}                            | steps[0] has no field 'wen'",
                "{\"steps\": [{\"when\": {\"contain\": \"x\"}}]}         | steps[0].when has no field 'contain'",
                "{\"steps\": [{\"fault\": {\"kind\": \"explode\"}}]}     | kind is 'explode'; use status",
                "{\"steps\": [{\"tools\": [{\"input\": {}}]}]}           | a call without a name",
                "{\"steps\":                                             | the script is not JSON",
                "{} {}                                                   | goes on after its end"
            })
    void mistakeIsReported(String script, String problem) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Script.parse(script))
                .withMessageContaining(problem);
    }
}
