package dev.vivarium.policy;

import dev.vivarium.policy.Token.Shape;
import dev.vivarium.policy.Token.Word;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.SequencedSet;

/// Decides whether a command line may be given to the shell of a sandbox.
///
/// A policy is a guard rail against accidents and a help for audits. It is not the boundary: that
/// is the sandbox's isolation, which holds whatever runs inside. `docs/reference/command-policy.md` says what
/// each mode promises. Immutable and thread-safe.
public final class CommandPolicy {
    /// The longest command line that [Mode#ALLOWLIST] reads, in characters.
    public static final int MAX_LENGTH = 64 * 1024;

    /// How a policy decides.
    public enum Mode {
        /// Everything runs, unless a deny pattern matches.
        OPEN,
        /// Only lines that are understood completely and name nothing but allowed commands run.
        ALLOWLIST;

        /// The mode with this name, `open` or `allowlist`.
        ///
        /// @throws IllegalArgumentException for any other name
        public static Mode of(String name) {
            return switch (name) {
                case "open" -> OPEN;
                case "allowlist" -> ALLOWLIST;
                default ->
                    throw new IllegalArgumentException(
                            "unknown command policy " + CommandNames.quoted(name) + "; use 'open' or 'allowlist'");
            };
        }
    }

    private final Mode mode;
    private final SequencedSet<String> allowedCommands;
    private final List<DenyPattern> denied;

    private CommandPolicy(Mode mode, SequencedSet<String> allowedCommands, List<DenyPattern> denied) {
        this.mode = mode;
        this.allowedCommands = allowedCommands;
        this.denied = denied;
    }

    /// The policy of this mode with its defaults: [Mode#OPEN] denies nothing, [Mode#ALLOWLIST] has
    /// a list of text tools and refuses what deletes, moves, copies devices, or reaches out.
    public static CommandPolicy of(Mode mode) {
        return new CommandPolicy(
                mode,
                CommandNames.checked(CommandNames.SEED),
                DenyPattern.compiled(
                        switch (mode) {
                            case OPEN -> List.<String>of();
                            case ALLOWLIST -> DenyPattern.SEED;
                        }));
    }

    /// This policy with another list of allowed commands; an empty list allows nothing. Only
    /// [Mode#ALLOWLIST] reads it.
    ///
    /// @throws IllegalArgumentException for an entry that is not a plain command name, or that is
    /// part of the shell
    public CommandPolicy withAllowedCommands(Collection<String> names) {
        return new CommandPolicy(mode, CommandNames.checked(names), denied);
    }

    /// This policy with other deny patterns, regular expressions that a command must not contain.
    ///
    /// @throws IllegalArgumentException for a pattern that is not a regular expression
    public CommandPolicy withDeniedPatterns(Collection<String> patterns) {
        return new CommandPolicy(mode, allowedCommands, DenyPattern.compiled(patterns));
    }

    public Mode mode() {
        return mode;
    }

    /// The allowed commands, sorted.
    public SequencedSet<String> allowedCommands() {
        return allowedCommands;
    }

    public List<String> deniedPatterns() {
        return denied.stream().map(DenyPattern::text).toList();
    }

    /// The allowed commands that can themselves run any program, such as interpreters. If there is
    /// one, the list limits nothing that its user does not want limited; a server should say so
    /// when it starts. The set knows common programs only, so an empty answer proves nothing.
    public SequencedSet<String> unboundedCommands() {
        return CommandNames.unbounded(allowedCommands);
    }

    /// Reports whether a caller may set this environment variable for a command. [Mode#ALLOWLIST] judges the words
    /// of a line, and refuses what would give them another meaning.
    public boolean allowsVariable(String name) {
        return mode == Mode.OPEN || !ReservedVariables.contains(name);
    }

    /// What this policy says about the command line. Never throws, and takes time linear in the
    /// length of the command, within a fixed bound for each deny pattern.
    public Verdict check(String command) {
        try {
            if (command.chars().allMatch(c -> c == ' ' || c == '\t' || c == '\n')) {
                return refused("Empty command");
            }
            for (DenyPattern pattern : denied) {
                if (pattern.isIn(command)) {
                    return new Verdict.Refused(
                            "Command contains forbidden pattern: " + pattern.text(), Optional.of(pattern.text()));
                }
            }
            if (mode == Mode.ALLOWLIST) {
                checkList(command);
            }
            return new Verdict.Allowed();
        } catch (NotUnderstood e) {
            return refused(e.reason());
        }
    }

    private static Verdict refused(String reason) {
        return new Verdict.Refused(reason, Optional.empty());
    }

    private void checkList(String command) {
        if (command.length() > MAX_LENGTH) {
            throw new NotUnderstood("Command is longer than " + MAX_LENGTH + " characters");
        }
        for (SimpleCommand simple : ShellParser.commands(command)) {
            checkName(simple.word());
            simple.arguments().forEach(CommandPolicy::checkGlob);
            ArgumentRules.check(simple);
        }
    }

    private void checkName(Word word) {
        String name = word.text();
        if (!word.isPlain()) {
            throw new NotUnderstood("Command word " + CommandNames.quoted(name)
                    + " must be written plainly, without quotes, escapes or wildcards");
        }
        if (CommandNames.isKeyword(name)) {
            throw new NotUnderstood("Compound commands and shell keywords are not accepted ('" + name + "')");
        }
        if (name.indexOf('=') > 0) {
            throw new NotUnderstood("Assignments are not accepted (" + CommandNames.quoted(name) + ")");
        }
        if (!allowedCommands.contains(name)) {
            throw new NotUnderstood("Command " + CommandNames.quoted(name) + " not in whitelist. Allowed: "
                    + (allowedCommands.isEmpty() ? "nothing" : String.join(", ", allowedCommands)));
        }
    }

    /// A file may be named like an option, and a wildcard that can produce such a word lets files
    /// choose the options.
    private static void checkGlob(Word argument) {
        if (argument.shape() == Shape.LEADING_GLOB
                || (argument.isGlob() && argument.text().charAt(0) == '-')) {
            throw new NotUnderstood("Wildcard " + CommandNames.quoted(argument.text())
                    + " could become an option; begin it with './', or quote it if it is no wildcard");
        }
    }
}
