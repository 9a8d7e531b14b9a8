package dev.vivarium.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.cli.Terminal.Ttys;
import dev.vivarium.json.Json;
import dev.vivarium.testing.TestServer;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Text of a sandbox cannot control the terminal of `viv`.
@Timeout(300)
class UntrustedTextTest {
    /// Clears the screen, writes the clipboard and reverses the reading order.
    private static final String HOSTILE = "a\u001b[2J\u001b]52;c;eA==\u0007\u202etxt";

    private static TestServer server;

    private CliRunner cli;

    @BeforeAll
    static void start() {
        server = TestServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void open(@TempDir Path home) {
        cli = new CliRunner(server, home).at(new Ttys(true, true, true, 200));
        assertThat(cli.viv("exec", "hostile", "--", "sh", "-c", "printf '%s' \"$1\" > \"$1\"", "-", HOSTILE))
                .isZero();
    }

    @Test
    void namesOfFilesAreEscaped() {
        cli.viv("ls", "hostile");
        assertHarmless();
        cli.viv("ls", "-q", "hostile");
        assertHarmless();
        cli.at(Ttys.NONE).viv("ls", "-R", "hostile");
        assertHarmless();
        cli.viv("ls", "hostile", "--json");
        assertHarmless();
        assertThat(cli.out().lines().map(line -> Json.answer(line).string("name")))
                .contains(HOSTILE);
    }

    @Test
    void contentIsEscapedOnATerminalAndUnchangedInAPipe() {
        cli.viv("cat", "hostile:" + HOSTILE);
        assertHarmless();
        cli.viv("cp", "hostile:" + HOSTILE, "-");
        assertHarmless();
        cli.at(Ttys.NONE).viv("cat", "hostile:" + HOSTILE);
        assertThat(cli.out()).isEqualTo(HOSTILE);
    }

    @Test
    void execPassesBytesThrough() {
        cli.viv("exec", "hostile", "--", "cat", HOSTILE);
        assertThat(cli.out()).isEqualTo(HOSTILE);
    }

    @Test
    void errorsAreEscaped() {
        for (String command : new String[] {"cat", "rm"}) {
            assertThat(cli.viv(command, "hostile:no" + HOSTILE)).isEqualTo(ExitCode.NOT_FOUND);
            assertThat(cli.err()).contains("\\x1b[2J").doesNotContain("\u202e", "\u001b[2J", "\u0007");
            cli.viv(command, "hostile:no" + HOSTILE, "--json");
            assertThat(cli.err()).doesNotContain("\u202e", "\u001b", "\u0007");
        }
    }

    @Test
    void textsOfEventsAreEscaped() {
        cli.viv("events", "hostile");
        assertHarmless();
        cli.viv("events", "hostile", "--story");
        assertThat(cli.out()).doesNotContain("\u202e", "\u001b[2J", "\u0007");
        cli.viv("events", "hostile", "--json");
        assertHarmless();
    }

    private void assertHarmless() {
        assertThat(cli.out())
                .contains("txt")
                .doesNotContain("\u202e", "\u001b[2J", "\u001b]", "\u0007")
                .containsAnyOf("\\x1b[2J", "\\u001b[2J", "\\u001B[2J");
    }
}
