package dev.vivarium.policy;

import java.util.Collection;
import java.util.Collections;
import java.util.SequencedSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Known command names and their classes. Stateless.
final class CommandNames {
    static final Set<String> SEED =
            setOf("jq awk grep sed sort uniq head tail wc cut tr cat echo date find ls python3 python");

    private static final int MAX_NAMES = 1_000;
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}");

    private static final Set<String> KEYWORDS =
            setOf("if then elif else fi for in while until do done case esac select function time coproc");

    /// Builtins that evaluate text, change the parsing of the rest of the line, or start programs named in their
    /// arguments. If one of them is allowed, the line no longer shows which programs run.
    private static final Set<String> EVALUATING_BUILTINS = setOf(
            "alias bg bind break builtin caller command compgen complete compopt continue declare dirs disown enable"
                    + " eval exec export fc fg getopts hash history jobs let local logout mapfile popd pushd read readarray"
                    + " readonly return set shift shopt source suspend test trap typeset ulimit unalias unset wait");

    /// Programs that run any program that their arguments or files name. Allowing one of them allows everything.
    private static final Set<String> UNBOUNDED = setOf(
            "ash bash busybox bun bundle cargo chroot csh dash deno docker ed emacs env ex expect fish flock gcc gdb git"
                    + " go java ksh less lua make man more nano nice node nohup npm npx parallel perl php pip pip3"
                    + " psql python python2 python3 rsync ruby runuser screen script setsid sh sqlite3 ssh stdbuf"
                    + " strace su sudo tar tclsh timeout tmux unshare uv vi view vim watch xargs yarn zip zsh");

    private CommandNames() {}

    static boolean isPlain(String name) {
        return PLAIN.matcher(name).matches();
    }

    static boolean isKeyword(String name) {
        return KEYWORDS.contains(name);
    }

    /// Returns the names, validated, sorted and without duplicates.
    static SequencedSet<String> checked(Collection<String> names) {
        if (names.size() > MAX_NAMES) {
            throw new IllegalArgumentException("allowed-commands holds more than " + MAX_NAMES + " names");
        }
        var checked = new TreeSet<String>();
        for (String name : names) {
            checked.add(checked(name));
        }
        return Collections.unmodifiableSequencedSet(checked);
    }

    private static String checked(String name) {
        if (!isPlain(name)) {
            throw new IllegalArgumentException("allowed-commands: " + quoted(name)
                    + " is not a plain command name (letters, digits, '_', '-', '.', '+'; no path, no arguments)");
        }
        if (isKeyword(name) || EVALUATING_BUILTINS.contains(name)) {
            throw new IllegalArgumentException("allowed-commands: '" + name
                    + "' is part of the shell: it can run other commands or change how the rest of the line is read,"
                    + " so it cannot be allowed by name");
        }
        return name;
    }

    static SequencedSet<String> unbounded(Collection<String> names) {
        var unbounded = new TreeSet<>(names);
        unbounded.retainAll(UNBOUNDED);
        return Collections.unmodifiableSequencedSet(unbounded);
    }

    /// Returns a word in a form that fits on one line of a message or a log.
    static String quoted(String word) {
        String shown = word.length() > 80 ? word.substring(0, 80) + "…" : word;
        return "'" + shown.replaceAll("[\\p{C}\\p{Z}&&[^ ]]", "?") + "'";
    }

    private static Set<String> setOf(String names) {
        return Stream.of(names.split(" ")).collect(Collectors.toUnmodifiableSet());
    }
}
