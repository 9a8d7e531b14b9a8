package dev.vivarium.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.io.PrintStream;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ArgumentsTest {
    private static final String URL = "http://127.0.0.1:1";

    @Test
    void globalOptionsMayPrecedeTheCommand() {
        assertThat(words("--server", URL, "--json", "ls", "t1")).containsExactly("ls", "--server", URL, "--json", "t1");
        assertThat(words("--server=" + URL, "snapshot", "--json", "ls", "t1"))
                .containsExactly("snapshot", "ls", "--server=" + URL, "--json", "t1");
        assertThat(words("--json", "snapshot", "t1")).containsExactly("snapshot", "--json", "t1");
    }

    @Test
    void argumentsOfTheCommandStayInPlace() {
        assertThat(words("exec", "t1", "--", "ls", "--json")).containsExactly("exec", "t1", "--", "ls", "--json");
        assertThat(words("snapshot", "--name", "ls", "t1")).containsExactly("snapshot", "--name", "ls", "t1");
        assertThat(words("--json", "--help")).containsExactly("--help");
        assertThat(words("--json")).isEmpty();
    }

    @Test
    void aliasesBecomeTheirCommands() {
        assertThat(words("--json", "ps")).containsExactly("threads", "--json");
        assertThat(words("status")).containsExactly("health");
    }

    private static List<String> words(String... args) {
        var nothing = new PrintStream(PrintStream.nullOutputStream());
        var terminal = new Terminal(InputStream.nullInputStream(), nothing, nothing, Map.of(), Terminal.Ttys.NONE);
        var arguments = Arguments.of(args);
        return List.of(arguments.words(new Commands(terminal).line(arguments.command(), arguments.subcommand())));
    }
}
