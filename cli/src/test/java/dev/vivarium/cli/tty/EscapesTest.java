package dev.vivarium.cli.tty;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.cli.tty.Escapes.Order;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class EscapesTest {
    private Escapes escapes = new Escapes(true);
    private Order order = Order.NONE;

    @Test
    void tildeAtTheStartOfALineIsAnEscape() {
        assertThat(typed("~.")).isEmpty();
        assertThat(order).isEqualTo(Order.QUIT);
        assertThat(typed("ls\r~d")).isEqualTo("ls\r");
        assertThat(order).isEqualTo(Order.DETACH);
    }

    @Test
    void tildeInsideALineIsOrdinaryInput() {
        assertThat(typed("cd ~.\r")).isEqualTo("cd ~.\r");
        assertThat(order).isEqualTo(Order.NONE);
    }

    @Test
    void doubleTildeIsOneAndUnknownEscapesAreKept() {
        assertThat(typed("~~.")).isEqualTo("~.");
        assertThat(typed("\r~/bin")).isEqualTo("\r~/bin");
        assertThat(order).isEqualTo(Order.NONE);
    }

    @Test
    void escapeMayArriveInPiecesAndHelpKeepsTheLineStart() {
        assertThat(typed("~")).isEmpty();
        assertThat(typed("?")).isEmpty();
        assertThat(order).isEqualTo(Order.HELP);
        assertThat(typed("~.")).isEmpty();
        assertThat(order).isEqualTo(Order.QUIT);
    }

    @Test
    void escapesCanBeDisabled() {
        escapes = new Escapes(false);
        assertThat(typed("~.")).isEqualTo("~.");
        assertThat(order).isEqualTo(Order.NONE);
    }

    private String typed(String keys) {
        byte[] bytes = keys.getBytes(StandardCharsets.UTF_8);
        var read = escapes.read(bytes, bytes.length);
        order = read.order();
        return new String(read.forShell(), StandardCharsets.UTF_8);
    }
}
