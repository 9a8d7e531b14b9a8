package dev.vivarium.cli.sync;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class IgnoreTest {
    @ParameterizedTest
    @CsvSource({
        "*.log, a.log, true",
        "*.log, deep/in/a.log, true",
        "*.log, a.log.txt, false",
        "/only, only, true",
        "/only, sub/only, false",
        "build/, build/x, true",
        "build/, sub/build/x, true",
        "build/, build, false",
        "a/**/z, a/z, true",
        "a/**/z, a/b/c/z, true",
        "docs/*.md, docs/a.md, true",
        "docs/*.md, docs/sub/a.md, false",
        "file[0-9], file7, true",
        "file[!0-9], file7, false",
        "wh?t, what, true",
        "a.c, abc, false",
        "\\#x, #x, true"
    })
    void rulesMatchLikeGitignore(String rule, String path, boolean covered) {
        assertThat(Ignore.of(List.of(rule)).covers(path)).isEqualTo(covered);
    }

    @Test
    void lastMatchingRuleDecides() {
        var ignore = Ignore.of(List.of("# all logs but one", "*.log", "!keep.log"));
        assertThat(ignore.covers("keep.log")).isFalse();
        assertThat(ignore.covers("other.log")).isTrue();
    }

    @Test
    void versionControlAndCachesAreAlwaysIgnored() {
        var ignore = Ignore.of(List.of());
        assertThat(List.of(".git/config", "web/node_modules/a/b.js", "x/__pycache__/y.pyc", ".viv-sync-123"))
                .allMatch(ignore::covers);
        assertThat(ignore.coversDirectory(".git")).isTrue();
        assertThat(ignore.covers(".gitignore")).isFalse();
    }
}
