package dev.vivarium.policy;

import dev.vivarium.policy.OptionTable.Item;
import dev.vivarium.policy.OptionTable.Order;
import dev.vivarium.policy.Token.Word;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/// Argument rules for tools that can start other programs or write files. Stateless.
///
/// Only listed harmless options are accepted, because tools gain options and accept abbreviations. A tool without a
/// rule accepts any arguments.
///
/// To add a rule:
///
/// 1. List the tool in [#check].
/// 2. Define an [OptionTable] of its harmless options.
/// 3. Check its operands.
/// 4. Add lines to both corpora of the tests.
final class ArgumentRules {
    private static final OptionTable AWK = new OptionTable("", "Fv", Set.of(), Set.of(), Order.BEFORE_OPERANDS);

    private static final OptionTable SED = new OptionTable(
            "nErsuz",
            "el",
            Set.of(
                    "--quiet",
                    "--silent",
                    "--regexp-extended",
                    "--separate",
                    "--unbuffered",
                    "--null-data",
                    "--posix",
                    "--sandbox"),
            Set.of("--expression", "--line-length"),
            Order.BEFORE_OPERANDS);

    private static final OptionTable SORT = new OptionTable(
            "bdfgiMhnRrVcCmsuz",
            "kSt",
            Set.of(
                    "--ignore-leading-blanks",
                    "--dictionary-order",
                    "--ignore-case",
                    "--general-numeric-sort",
                    "--ignore-nonprinting",
                    "--month-sort",
                    "--human-numeric-sort",
                    "--numeric-sort",
                    "--random-sort",
                    "--reverse",
                    "--version-sort",
                    "--check",
                    "--merge",
                    "--stable",
                    "--unique",
                    "--zero-terminated"),
            Set.of("--sort", "--key", "--buffer-size", "--field-separator", "--parallel"),
            Order.ANYWHERE);

    private static final OptionTable UNIQ = new OptionTable(
            "cdDiuz",
            "fsw",
            Set.of(
                    "--count",
                    "--repeated",
                    "--all-repeated",
                    "--group",
                    "--ignore-case",
                    "--unique",
                    "--zero-terminated"),
            Set.of("--skip-fields", "--skip-chars", "--check-chars"),
            Order.ANYWHERE);

    private static final OptionTable DATE = new OptionTable(
            "uR",
            "dr",
            Set.of("--utc", "--universal", "--iso-8601", "--rfc-email"),
            Set.of("--date", "--reference", "--rfc-3339"),
            Order.ANYWHERE);

    /// `date -I` takes its value attached or not at all, unlike every other listed option. It is parsed as the long
    /// option, in place.
    private static final Pattern DATE_ISO = Pattern.compile("-I(date|hours|minutes|seconds|ns)?");

    private static final Word ISO_8601 = new Word("--iso-8601", Token.Shape.PLAIN);

    private static final Pattern PRINTF_ASSIGNS = Pattern.compile("%[-+ #'0-9*.]*[hlLjzt]*n");

    private ArgumentRules() {}

    static void check(SimpleCommand command) {
        switch (command.word().text()) {
            case "awk", "gawk", "mawk", "nawk", "original-awk" -> awk(command);
            case "sed", "gsed" -> sed(command);
            case "find", "gfind" -> FindExpression.check(command);
            case "sort", "gsort" -> SORT.read(command);
            case "uniq", "guniq" -> uniq(command);
            case "date", "gdate" -> date(command);
            case "printf" -> printf(command);
            default -> {}
        }
    }

    private static void awk(SimpleCommand command) {
        for (Item item : AWK.read(command)) {
            if (item.isOperand()) {
                AwkProgram.check(programText(command, item.value()));
                return;
            }
        }
    }

    private static void sed(SimpleCommand command) {
        List<Item> items = SED.read(command);
        List<Word> expressions = items.stream()
                .filter(item -> item.option().equals("-e") || item.option().equals("--expression"))
                .map(Item::value)
                .toList();
        if (expressions.isEmpty()) {
            expressions = items.stream()
                    .filter(Item::isOperand)
                    .limit(1)
                    .map(Item::value)
                    .toList();
        }
        expressions.forEach(expression -> SedScript.check(programText(command, expression)));
    }

    private static String programText(SimpleCommand command, Word program) {
        if (program.isGlob()) {
            throw new NotUnderstood("Quote the program of '" + command.word().text() + "': "
                    + CommandNames.quoted(program.text()) + " is a wildcard");
        }
        return program.text();
    }

    /// The second operand of uniq is an output file, and a wildcard may expand to two operands.
    private static void uniq(SimpleCommand command) {
        List<Item> operands =
                UNIQ.read(command).stream().filter(Item::isOperand).toList();
        if (operands.size() > 1
                || operands.stream().anyMatch(item -> item.value().isGlob())) {
            throw new NotUnderstood("'uniq' may not be given an output file under this policy");
        }
    }

    /// An operand without a plus sign sets the clock.
    private static void date(SimpleCommand command) {
        List<Word> arguments = command.arguments().stream()
                .map(word -> DATE_ISO.matcher(word.text()).matches() ? ISO_8601 : word)
                .toList();
        for (Item item : DATE.read(new SimpleCommand(command.word(), arguments))) {
            if (item.isOperand() && !item.value().text().startsWith("+")) {
                throw new NotUnderstood("'date' may not set the clock under this policy");
            }
        }
    }

    /// The printf builtin can assign to a variable, and evaluates the index of the variable to do so.
    private static void printf(SimpleCommand command) {
        for (Word word : command.arguments()) {
            if (word.isGlob() || PRINTF_ASSIGNS.matcher(word.text()).find()) {
                throw new NotUnderstood("'printf' may not assign to variables under this policy");
            }
        }
        if (!command.arguments().isEmpty() && command.arguments().getFirst().looksLikeOption()) {
            throw new NotUnderstood("'printf' may not be given options under this policy");
        }
    }
}
