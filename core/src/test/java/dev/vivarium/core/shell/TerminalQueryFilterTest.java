package dev.vivarium.core.shell;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class TerminalQueryFilterTest {
    @Test
    void terminalQueriesAreRemoved() {
        for (String query : List.of(
                "\u001b[c",
                "\u001b[>c",
                "\u001b[>0c",
                "\u001b[6n",
                "\u001b[?6n",
                "\u001b[5n",
                "\u001b[?2026$p",
                "\u001b[>q",
                "\u001b[18t",
                "\u001b]11;?\u0007",
                "\u001b]10;?\u001b\\",
                "\u001b]4;7;?\u0007",
                "\u001b]52;c;?\u0007",
                "\u001bP+q544e\u001b\\",
                "\u001bP$qm\u001b\\",
                "\u001bZ")) {
            assertThat(TerminalQueryFilter.without("a" + query + "b"))
                    .as(query.replace('\u001b', '^'))
                    .isEqualTo("ab");
        }
    }

    @Test
    void otherSequencesAreKept() {
        for (String shown : List.of(
                "plain\r\n",
                "\u001b[31mred\u001b[0m",
                "\u001b[2J\u001b[H",
                "\u001b[?1049h",
                "\u001b[10;20r",
                "\u001b]0;title\u0007",
                "\u001b]11;#000000\u0007",
                "\u001b[8;24;80t",
                "\u001b(B",
                "\u001b[?25l")) {
            assertThat(TerminalQueryFilter.without(shown)).isEqualTo(shown);
        }
    }
}
