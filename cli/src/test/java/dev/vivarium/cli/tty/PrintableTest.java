package dev.vivarium.cli.tty;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class PrintableTest {
    @Test
    void charactersThatControlATerminalAreEscaped() {
        assertThat(Printable.text("\u001b[2J\u0007\u009b1m\u007f")).isEqualTo("\\x1b[2J\\x07\\x9b1m\\x7f");
        assertThat(Printable.text("a\nb\rc\td")).isEqualTo("a\\nb\\rc\\td");
    }

    @Test
    void charactersThatChangeTheReadingOrderAreEscaped() {
        assertThat(Printable.text("photo\u202egpj.exe")).isEqualTo("photo\\u202egpj.exe");
        assertThat(Printable.text("\u2066\u2069\u200f\u061c\ufeff\u2028"))
                .isEqualTo("\\u2066\\u2069\\u200f\\u061c\\ufeff\\u2028");
    }

    @Test
    void otherTextIsUnchanged() {
        String text = "Grüße, 你好, שלום, \uD83D\uDC68\u200D\uD83D\uDCBB \\x1b";
        assertThat(Printable.text(text)).isEqualTo(text);
    }

    @Test
    void escapedJsonHasTheSameMeaning() {
        assertThat(Printable.json("{\"a\":\"\u202e\u009b\uDB40\uDC01é\"}"))
                .isEqualTo("{\"a\":\"\\u202e\\u009b\\udb40\\udc01é\"}");
    }

    @Test
    void copiedTextKeepsLinesAndCharactersAtTheEdgeOfAChunk() throws Exception {
        String text = "x".repeat(8191) + "\uD83D\uDE00\n\tend";
        var out = new ByteArrayOutputStream();
        Printable.copy(
                new ByteArrayInputStream((text + "\u001b").getBytes(StandardCharsets.UTF_8)),
                new PrintStream(out, true, StandardCharsets.UTF_8));
        assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo(text + "\\x1b");
    }
}
