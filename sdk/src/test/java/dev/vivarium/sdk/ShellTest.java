package dev.vivarium.sdk;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class ShellTest {
    @Test
    void bashParsesTheQuotedWords() throws Exception {
        var words =
                List.of("", "plain", "two words", "it's", "$HOME", "`id`", "a\nb", "*", "\\", "\"", "~", "grüße", "-n");

        var bash = new ProcessBuilder("bash", "-c", "printf '%s\\0' " + Shell.quote(words)).start();
        String output = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(List.of(output.split("\0", -1)).subList(0, words.size())).isEqualTo(words);
    }

    @Test
    void plainWordsStayUnquoted() {
        assertThat(Shell.quote(List.of("ls", "-l", "/workspace/a.txt"))).isEqualTo("ls -l /workspace/a.txt");
    }
}
