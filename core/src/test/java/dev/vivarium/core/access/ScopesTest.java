package dev.vivarium.core.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ScopesTest {
    @ParameterizedTest
    @CsvSource({
        "fs:rw, fs:ro, true", "fs:ro, fs:rw, false", "shell, shell:ro, true", "shell:ro, shell, false",
        "process, shell, false", "shell, process, false", "fs:rw, snapshot, false", "snapshot, snapshot, true"
    })
    void strongerScopeCoversOnlyItsWeakerScope(String held, String wanted, boolean allowed) {
        assertThat(Scopes.parse(held).allows(Scope.of(wanted))).isEqualTo(allowed);
    }

    @ParameterizedTest
    @CsvSource({
        "fs:rw shell, fs:ro shell:ro, fs:ro shell:ro",
        "fs:ro, fs:rw, fs:ro",
        "fs:rw shell process, process, process",
        "shell, fs:rw, ''",
        "fs:rw shell shell:ro process snapshot fs:ro, fs:rw shell process snapshot, fs:rw shell process snapshot"
    })
    void narrowingReturnsTheIntersection(String one, String other, String both) {
        assertThat(Scopes.parse(one).narrow(Scopes.parse(other)).text()).isEqualTo(both);
        assertThat(Scopes.parse(other).narrow(Scopes.parse(one)).text()).isEqualTo(both);
    }

    @ParameterizedTest
    @ValueSource(strings = {"fs", "FS:RW", "fs:rw  shell", " fs:rw", "root", "*"})
    void unknownScopeIsRejected(String text) {
        assertThatThrownBy(() -> Scopes.parse(text)).hasMessageStartingWith("scopes must be of fs:ro, fs:rw");
    }

    @Test
    void namesAreSorted() {
        assertThat(Scopes.parse("process fs:rw").names()).containsExactly("fs:rw", "process");
        assertThat(Scopes.NONE.text()).isEmpty();
        assertThat(Scopes.parse("")).isEqualTo(Scopes.NONE);
    }
}
