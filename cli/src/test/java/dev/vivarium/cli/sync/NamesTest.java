package dev.vivarium.cli.sync;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NamesTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "/etc/passwd",
                "../x",
                "a/../../x",
                "a//b",
                "a/./b",
                "",
                "a\\b",
                "new\nline",
                "nul",
                "a/CON",
                "x/"
            })
    void unsafeNamesAreRejected(String name) {
        assertThat(Names.refused(List.of(name))).containsKey(name);
    }

    @Test
    void namesThatDifferOnlyInCaseAreRejected() {
        assertThat(Names.refused(List.of("Makefile", "makefile", "other"))).containsOnlyKeys("Makefile", "makefile");
        assertThat(Names.refused(List.of("caf\u00e9", "cafe\u0301"))).hasSize(2);
    }

    @Test
    void ordinaryNamesAreAccepted() {
        assertThat(Names.refused(List.of("a", ".env", "..a", "deep/in/the tree/ü.txt", "a:b")))
                .isEmpty();
    }
}
