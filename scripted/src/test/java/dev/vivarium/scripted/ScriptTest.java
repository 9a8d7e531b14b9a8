package dev.vivarium.scripted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What a script may say, and which mistakes it is told about.
class ScriptTest {
    private static Step only(String step) {
        return Script.parse("{\"steps\": [%s]}".formatted(step)).steps().getFirst();
    }

    private static Question told(String news, String... tools) {
        return new Question("model", false, Set.of(tools), news, 1, 100);
    }

    @Test
    void aStepWithoutARuleFitsEverything() {
        assertThat(only("{\"text\": \"x\"}").answers(told("anything"))).isTrue();
    }

    @Test
    void aRuleHoldsOnlyIfAllOfItDoes() {
        Step step = only("{\"when\": {\"contains\": [\"a\", \"b\"], \"lacks\": \"c\", \"matches\": \"a.*b\"}}");
        assertThat(step.answers(told("a\nb"))).isTrue();
        assertThat(step.answers(told("b a"))).as("matches").isFalse();
        assertThat(step.answers(told("a only"))).as("contains").isFalse();
        assertThat(step.answers(told("a b c"))).as("lacks").isFalse();
    }

    @Test
    void aModelCallsNoToolThatItIsNotOffered() {
        Step step = only("{\"tools\": [{\"name\": \"Bash\", \"input\": {}}]}");
        assertThat(step.answers(told("go", "Bash", "Read"))).isTrue();
        assertThat(step.answers(told("give me a title"))).isFalse();
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
    void aMistakeIsNamed(String script, String problem) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Script.parse(script))
                .withMessageContaining(problem);
    }
}
