package dev.vivarium.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TableTest {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    @Test
    void pipeGetsTabSeparatedValues() {
        print(Terminal.Ttys.NONE, Map.of());
        assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo("ID\tNAME\n1\ta\\tb\\nc\n22\t\\x1b[31mred\n");
    }

    @Test
    void terminalGetsTruncatedColumnsWithoutControlCharacters() {
        print(new Terminal.Ttys(true, true, true, 10), Map.of());
        assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo("ID  NAME\n1   a\\tb\\…\n22  \\x1b[…\n");
    }

    @Test
    void colourNeedsATerminalAndNoNoColor() {
        var tty = new Terminal.Ttys(true, true, true, 0);
        print(tty, Map.of("TERM", "xterm"));
        assertThat(out.toString(StandardCharsets.UTF_8)).startsWith("\u001b[1mID");
        out.reset();
        print(tty, Map.of("TERM", "xterm", "NO_COLOR", "1", "CLICOLOR_FORCE", "1"));
        assertThat(out.toString(StandardCharsets.UTF_8)).startsWith("ID");
    }

    @Test
    void agesHaveOneUnit() {
        assertThat(Table.age(Duration.ofSeconds(90))).isEqualTo("90s");
        assertThat(Table.age(Duration.ofMinutes(90))).isEqualTo("90m");
        assertThat(Table.age(Duration.ofHours(30))).isEqualTo("30h");
        assertThat(Table.age(Duration.ofDays(9))).isEqualTo("9d");
        assertThat(Table.age(Duration.ofSeconds(-9))).isEqualTo("in 9s");
    }

    private void print(Terminal.Ttys ttys, Map<String, String> env) {
        var print = new PrintStream(out, true, StandardCharsets.UTF_8);
        var terminal = new Terminal(InputStream.nullInputStream(), print, print, env, ttys);
        var table = new Table(terminal, new OutputOptions(), "ID", "NAME");
        table.row("1", "a\tb\nc");
        table.row("22", "\u001b[31mred");
        table.print();
    }

    @Test
    void sizesAreRounded() {
        assertThat(Table.rounded(0)).isEqualTo("0 B");
        assertThat(Table.rounded(999)).isEqualTo("999 B");
        assertThat(Table.rounded(1_500)).isEqualTo("1.5 kB");
        assertThat(Table.rounded(999_999)).isEqualTo("1.0 MB");
        assertThat(Table.rounded(Long.MAX_VALUE)).isEqualTo("9.2 EB");
    }
}
