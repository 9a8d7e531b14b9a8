package dev.vivarium.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.vivarium.policy.CommandPolicy.Mode;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class CommandPolicyTest {
    private static final CommandPolicy OPEN = CommandPolicy.of(Mode.OPEN);
    private static final CommandPolicy ALLOWLIST = CommandPolicy.of(Mode.ALLOWLIST);

    /// Without deny patterns, so that only the parser refuses.
    private static final CommandPolicy PARSER_ONLY = ALLOWLIST.withDeniedPatterns(List.of());

    static Stream<String> refused() {
        return CommandCorpus.refused().stream();
    }

    static Stream<String> ordinary() {
        return CommandCorpus.ORDINARY.stream();
    }

    @ParameterizedTest
    @MethodSource("refused")
    void allowlistRefusesTheCorpus(String command) {
        assertThat(PARSER_ONLY.check(command)).isInstanceOfSatisfying(Verdict.Refused.class, refused -> {
            assertThat(refused.reason()).isNotBlank().doesNotContainPattern("[\\p{Cc}\\p{Cs}]");
            assertThat(refused.forbiddenPattern()).isEmpty();
        });
    }

    @ParameterizedTest
    @MethodSource("ordinary")
    void allowlistAllowsOrdinaryCommands(String command) {
        assertThat(ALLOWLIST.check(command)).isEqualTo(new Verdict.Allowed());
    }

    @Test
    void denyPatternsMatchUpperAndLowerCase() {
        var policy = OPEN.withDeniedPatterns(List.of("\\bgit\\b"));

        assertThat(policy.check("GIT status")).isInstanceOf(Verdict.Refused.class);
        assertThat(policy.check("Git status")).isInstanceOf(Verdict.Refused.class);
        assertThat(policy.check("digit")).isInstanceOf(Verdict.Allowed.class);
        assertThat(ALLOWLIST.check("ls | SUDO ls"))
                .isInstanceOfSatisfying(
                        Verdict.Refused.class,
                        refused -> assertThat(refused.forbiddenPattern()).contains("\\bsudo\\b"));
    }

    @Test
    void corporaKeepTheirSize() {
        assertThat(CommandCorpus.refused()).hasSizeGreaterThanOrEqualTo(200).doesNotHaveDuplicates();
        assertThat(CommandCorpus.ORDINARY).hasSizeGreaterThanOrEqualTo(70).doesNotHaveDuplicates();
    }

    @Test
    void openPolicyAllowsEveryCommand() {
        assertThat(CommandCorpus.refused())
                .allMatch(command -> OPEN.check(command).isAllowed());
        assertThat(OPEN.check("x".repeat(CommandPolicy.MAX_LENGTH * 4)).isAllowed())
                .isTrue();
        assertThat(OPEN.deniedPatterns()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "\t \n"})
    void blankCommandIsRefusedInBothModes(String command) {
        assertThat(OPEN.check(command)).isEqualTo(refusal("Empty command"));
        assertThat(ALLOWLIST.check(command)).isEqualTo(refusal("Empty command"));
    }

    @Test
    void refusalNamesTheDenyPattern() {
        var refused = new Verdict.Refused("Command contains forbidden pattern: \\brm\\b", Optional.of("\\brm\\b"));
        assertThat(ALLOWLIST.check("rm -rf /")).isEqualTo(refused);
        assertThat(ALLOWLIST.check("ls; rm x")).isEqualTo(refused);
        assertThat(OPEN.withDeniedPatterns(List.of("\\brm\\b")).check("rm -rf /"))
                .isEqualTo(refused);
        assertThat(OPEN.check("rm -rf /").isAllowed()).isTrue();
        assertThat(ALLOWLIST.check("echo farm").isAllowed()).isTrue();
    }

    @Test
    void refusalNamesTheCommandAndTheAllowlist() {
        assertThat(ALLOWLIST.check("foo bar"))
                .isEqualTo(
                        refusal("Command 'foo' not in whitelist. Allowed: awk, cat, cut, date, echo, find, grep, head,"
                                + " jq, ls, python, python3, sed, sort, tail, tr, uniq, wc"));
        assertThat(ALLOWLIST.withAllowedCommands(List.of("b", "a", "b")).check("/bin/ls"))
                .isEqualTo(refusal("Command '/bin/ls' not in whitelist. Allowed: a, b"));
    }

    @Test
    void emptyListAllowsNothing() {
        var nothing = ALLOWLIST.withAllowedCommands(List.of());
        assertThat(CommandCorpus.ORDINARY)
                .noneMatch(command -> nothing.check(command).isAllowed());
    }

    @Test
    void everyCommandOfALineIsChecked() {
        String line = "echo x; ".repeat(60);
        assertThat(ALLOWLIST.check(line).isAllowed()).isTrue();
        assertThat(ALLOWLIST.check(line + "id").isAllowed()).isFalse();
        assertThat(ALLOWLIST.check("id; " + line).isAllowed()).isFalse();
    }

    @Test
    void tooManyCommandsAreRefused() {
        assertThat(ALLOWLIST.check("ls;".repeat(256)).isAllowed()).isTrue();
        assertThat(ALLOWLIST.check("ls;".repeat(257))).isEqualTo(refusal("More than 256 commands in one line"));
        assertThat(ALLOWLIST.check("ls|".repeat(5_000) + "ls").isAllowed()).isFalse();
    }

    @Test
    void lineBeyondTheLengthLimitIsRefused() {
        String longest = "echo " + "x".repeat(CommandPolicy.MAX_LENGTH - 5);
        assertThat(ALLOWLIST.check(longest).isAllowed()).isTrue();
        assertThat(ALLOWLIST.check(longest + "x")).isEqualTo(refusal("Command is longer than 65536 characters"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "deny", "OPEN", " open", "allow-list"})
    void unknownModeIsRejected(String name) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Mode.of(name))
                .withMessage("unknown command policy '" + name + "'; use 'open' or 'allowlist'");
    }

    @Test
    void modesAreFoundByName() {
        assertThat(Mode.of("open")).isEqualTo(Mode.OPEN);
        assertThat(Mode.of("allowlist")).isEqualTo(Mode.ALLOWLIST);
    }

    @ParameterizedTest
    @ValueSource(strings = {"(", "[a", "*", "a{2,1}"})
    void invalidRegularExpressionIsRejected(String pattern) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> OPEN.withDeniedPatterns(List.of(pattern)))
                .withMessageStartingWith("denied-patterns: '" + pattern + "' is not a regular expression: ");
    }

    @Test
    void emptyPatternIsRejected() {
        assertThatIllegalArgumentException().isThrownBy(() -> OPEN.withDeniedPatterns(List.of("")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "ls -l", "/bin/ls", "l*", ".", "[", "eval", "if", "alias", "test", "ls\n", "\u00e9"})
    void listEntryMustBeAPlainProgramName(String name) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ALLOWLIST.withAllowedCommands(List.of(name)))
                .withMessageStartingWith("allowed-commands: ");
    }

    @Test
    void oversizedListsAreRejected() {
        List<String> names = IntStream.range(0, 1_001).mapToObj(i -> "c" + i).toList();
        assertThatIllegalArgumentException().isThrownBy(() -> ALLOWLIST.withAllowedCommands(names));
        assertThatIllegalArgumentException().isThrownBy(() -> ALLOWLIST.withDeniedPatterns(names));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ALLOWLIST.withDeniedPatterns(Collections.singleton("x".repeat(1_001))));
    }

    @Test
    void unboundedCommandsListsInterpreters() {
        assertThat(ALLOWLIST.unboundedCommands()).containsExactly("python", "python3");
        assertThat(ALLOWLIST.withAllowedCommands(List.of("ls", "cat")).unboundedCommands())
                .isEmpty();
    }

    @Test
    void printfCannotAssignVariables() {
        var policy = ALLOWLIST.withAllowedCommands(List.of("printf"));
        assertThat(policy.check("printf '%s %d%%\\n' a 1").isAllowed()).isTrue();
        assertThat(policy.check("printf -v 'a[0]' x").isAllowed()).isFalse();
        assertThat(policy.check("printf -- x").isAllowed()).isFalse();
        assertThat(policy.check("printf 'abc%n' 'a[0]'").isAllowed()).isFalse();
        assertThat(policy.check("printf 'abc%-5ln' 'a[0]'").isAllowed()).isFalse();
    }

    @Test
    void changingAPolicyReturnsACopy() {
        var narrow = ALLOWLIST.withAllowedCommands(List.of("ls")).withDeniedPatterns(List.of("x"));
        assertThat(narrow.allowedCommands()).containsExactly("ls");
        assertThat(narrow.deniedPatterns()).containsExactly("x");
        assertThat(ALLOWLIST.allowedCommands()).hasSize(18);
        assertThat(ALLOWLIST.deniedPatterns()).hasSize(7);
    }

    private static Verdict refusal(String reason) {
        return new Verdict.Refused(reason, Optional.empty());
    }
}
