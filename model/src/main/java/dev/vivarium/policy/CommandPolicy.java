package dev.vivarium.policy;

import dev.vivarium.policy.Token.Shape;
import dev.vivarium.policy.Token.Word;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.SequencedSet;

/// Policy that decides whether the shell of a sandbox may run a command line. Immutable.
///
/// A policy prevents accidents and helps audits. It is not the security boundary: the isolation of the sandbox is.
/// `docs/reference/command-policy.md` lists the guarantees of each mode.
public final class CommandPolicy {
    /// Maximum length of a command line for [Mode#ALLOWLIST], in characters.
    public static final int MAX_LENGTH = 64 * 1024;

    public enum Mode {
        /// Every line runs, unless a deny pattern matches.
        OPEN,
        /// A line runs only if it is parsed completely and names only allowed commands.
        ALLOWLIST;

        /// Returns the mode with this name, `open` or `allowlist`.
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

    /// Returns the default policy of this mode. [Mode#OPEN] denies nothing. [Mode#ALLOWLIST] allows a list of text
    /// tools and denies commands that delete, move, copy devices, or connect to other hosts.
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

    /// Returns this policy with another list of allowed commands; an empty list allows nothing. Only
    /// [Mode#ALLOWLIST] uses the list.
    ///
    /// @throws IllegalArgumentException for an entry that is not a plain command name, or that is part of the shell
    public CommandPolicy withAllowedCommands(Collection<String> names) {
        return new CommandPolicy(mode, CommandNames.checked(names), denied);
    }

    /// Returns this policy with other deny patterns: regular expressions that a command must not contain.
    ///
    /// @throws IllegalArgumentException for a pattern that is not a regular expression
    public CommandPolicy withDeniedPatterns(Collection<String> patterns) {
        return new CommandPolicy(mode, allowedCommands, DenyPattern.compiled(patterns));
    }

    public Mode mode() {
        return mode;
    }

    /// Returns the allowed commands, sorted.
    public SequencedSet<String> allowedCommands() {
        return allowedCommands;
    }

    public List<String> deniedPatterns() {
        return denied.stream().map(DenyPattern::text).toList();
    }

    /// Returns the allowed commands that can run any program, such as interpreters. With such a command, the list
    /// restricts only users who cooperate; a server should log a warning when it starts. Only common programs are
    /// known, so an empty result proves nothing.
    public SequencedSet<String> unboundedCommands() {
        return CommandNames.unbounded(allowedCommands);
    }

    /// Reports whether a client may set this environment variable for a command. [Mode#ALLOWLIST] rejects variables
    /// that would change the meaning of a checked line.
    public boolean allowsVariable(String name) {
        return mode == Mode.OPEN || !ReservedVariables.contains(name);
    }

    /// Returns the verdict of this policy on the command line. Never throws. Takes time linear in the length of the
    /// command, within a fixed bound for each deny pattern.
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

    /// A file name may look like an option. A wildcard that can expand to such a name would let files choose the
    /// options.
    private static void checkGlob(Word argument) {
        if (argument.shape() == Shape.LEADING_GLOB
                || (argument.isGlob() && argument.text().charAt(0) == '-')) {
            throw new NotUnderstood("Wildcard " + CommandNames.quoted(argument.text())
                    + " could become an option; begin it with './', or quote it if it is no wildcard");
        }
    }
}
