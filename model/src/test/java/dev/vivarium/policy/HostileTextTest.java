package dev.vivarium.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.policy.CommandPolicy.Mode;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Input that is meant to break the parser. The timeout only ends a hang.
@Timeout(300)
class HostileTextTest {
    private static final CommandPolicy ALLOWLIST = CommandPolicy.of(Mode.ALLOWLIST);

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void randomTextGetsAVerdict(long seed) {
        var random = new Random(seed);
        for (int i = 0; i < 10_000; i++) {
            String text = random.nextBoolean() ? anyCharacters(random) : asciiAfterACommand(random);
            assertThat(ALLOWLIST.check(text)).isNotNull();
        }
    }

    private static String anyCharacters(Random random) {
        char[] characters = new char[random.nextInt(200)];
        for (int i = 0; i < characters.length; i++) {
            characters[i] = (char) (random.nextInt(4) == 0 ? 0xd800 + random.nextInt(0x800) : random.nextInt(0x10000));
        }
        return "ls '" + new String(characters) + (random.nextBoolean() ? "'" : "");
    }

    private static String asciiAfterACommand(Random random) {
        String[] starts = {"", "ls ", "sed '", "awk '", "find ", "sort ", "date ", "uniq ", "sed -e '"};
        var text = new StringBuilder(starts[random.nextInt(starts.length)]);
        int length = random.nextInt(60);
        for (int i = 0; i < length; i++) {
            text.append((char) (random.nextInt(20) == 0 ? '\n' : ' ' + random.nextInt(95)));
        }
        return text.append(random.nextBoolean() ? "'" : "").toString();
    }

    static Stream<String> repetitions() {
        return Stream.of(
                "'", "\"", "\\", "\\\\", "[", "]", "*", "a*", "{", "(", "$(", "`", "|", "||", ";", "\n", "<", ">", "2>",
                "2>&1 ", "a ", "''", "''*", "-", "--", "- ", "!", "! ", "[:", "[[:", "[a]", "s/[", "/", "a/", "%", "%n",
                "%h", "@ ", "-u=r,", "u+w,", "rm", "r", "1", "9>", "=", "\ud83d", "\u00e9");
    }

    @ParameterizedTest
    @MethodSource("repetitions")
    void longRepetitionsTerminate(String unit) {
        String text = unit.repeat(65_000 / unit.length());
        assertThat(ALLOWLIST.check(text)).isNotNull();
        var policy = ALLOWLIST
                .withAllowedCommands(List.of("ls", "sed", "awk", "find", "sort", "printf"))
                .withDeniedPatterns(List.of());
        for (String start : List.of("", "ls ", "sed ", "sed '", "sed 's/", "awk '", "find -", "sort ", "printf '")) {
            assertThat(policy.check(start + text)).isNotNull();
            assertThat(policy.check(start + text + "'")).isNotNull();
        }
    }

    @Test
    void slowDenyPatternRefusesTheCommand() {
        var policy = CommandPolicy.of(Mode.OPEN).withDeniedPatterns(List.of("(.*a){20}b(.)\\2"));
        assertThat(policy.check("echo " + "a".repeat(60) + "!").isAllowed()).isFalse();
        assertThat(policy.check("echo b").isAllowed()).isTrue();
    }

    @Test
    void recursiveDenyPatternRefusesTheCommand() {
        var policy = CommandPolicy.of(Mode.OPEN).withDeniedPatterns(List.of("^(a|b)*c"));
        assertThat(policy.check("ab".repeat(500_000)).isAllowed()).isFalse();
    }

    @Test
    void refusalOfALongCommandIsShort() {
        assertThat(ALLOWLIST.check("x".repeat(60_000)))
                .isInstanceOfSatisfying(
                        Verdict.Refused.class,
                        refused -> assertThat(refused.reason()).hasSizeLessThan(400));
    }
}
