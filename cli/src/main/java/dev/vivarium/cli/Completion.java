package dev.vivarium.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/// Completion script for a shell, generated from the command model. Immutable.
///
/// @param words for each command, by its names joined with spaces, the words that may follow: subcommands first, then
///     options
/// @param withThread the commands that take a thread
record Completion(Map<String, List<Word>> words, Set<String> withThread) {
    /// Supported shells.
    enum Shell {
        BASH,
        ZSH,
        FISH;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /// Word with its description.
    record Word(String text, String about) {
        boolean isOption() {
            return text.startsWith("-");
        }
    }

    /// Commands of the launcher that are not in the command model.
    private static final List<Word> SERVERS = List.of(
            new Word("serve", "Start a server."),
            new Word("image", "Prepare root file systems."),
            new Word("demo", "Show a complete run, without a key or a network."),
            new Word("purge", "Delete all sandboxes of a stopped server."));

    /// Values of options, by their names.
    private static final Map<String, String> VALUES = new TreeMap<>(Map.of(
            "--color", "auto always never",
            "--escape", "~ none",
            "--prefer", "local remote",
            "--runtime", "claude openhands command",
            "--scope", "fs:ro fs:rw shell shell:ro process snapshot",
            "--status", "running paused completed failed terminated"));

    /// Prints the names of the user's threads.
    private static final String THREADS = "viv threads -q 2>/dev/null";

    private static final Pattern THREAD_LABEL = Pattern.compile("(THREAD|ID|FROM|TO).*");

    static Completion of(CommandLine root) {
        var words = new TreeMap<String, List<Word>>();
        var withThread = new TreeSet<String>();
        collect("", root, words, withThread);
        words.computeIfPresent("", (_, following) -> {
            following.addAll(0, SERVERS);
            return following;
        });
        return new Completion(words, withThread);
    }

    private static void collect(
            String path, CommandLine command, Map<String, List<Word>> words, Set<String> withThread) {
        var here = new ArrayList<Word>();
        words.put(path, here);
        command.getSubcommands().forEach((name, sub) -> {
            here.add(new Word(name, about(sub.getCommandSpec().usageMessage().description())));
            collect(path.isEmpty() ? name : path + " " + name, sub, words, withThread);
        });
        for (OptionSpec option : command.getCommandSpec().options()) {
            here.add(new Word(option.longestName(), about(option.description())));
        }
        if (command.getCommandSpec().positionalParameters().stream()
                .anyMatch(given -> THREAD_LABEL.matcher(given.paramLabel()).matches())) {
            withThread.add(path);
        }
    }

    private static String about(String[] lines) {
        return lines.length == 0 ? "" : lines[0].replaceAll("[\\[\\]:'\"`$\\\\]", "");
    }

    String script(Shell shell) {
        return switch (shell) {
            case BASH -> bash();
            case ZSH -> zsh();
            case FISH -> fish();
        };
    }

    private String bash() {
        var script = new StringBuilder("_viv() {\n    local path= word\n    COMPREPLY=()\n");
        script.append("    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n        case \"$path $word\" in\n");
        script.append("            ").append(steps("|")).append(") path=\"${path:+$path }$word\" ;;\n");
        script.append("            *' --') return ;;\n        esac\n    done\n    case $path in\n");
        words.forEach((path, following) -> script.append("        '")
                .append(path)
                .append("') set -- ")
                .append(String.join(" ", following.stream().map(Word::text).toList()))
                .append(" ;;\n"));
        script.append("    esac\n    local current=${COMP_WORDS[COMP_CWORD]}\n")
                .append("    case ${COMP_WORDS[COMP_CWORD-1]} in\n");
        VALUES.forEach((option, values) -> script.append("        ")
                .append(option)
                .append(") set -- ")
                .append(values)
                .append(" ;;\n"));
        return script.append("        *) [[ $current == -* ]] || case $path in\n")
                .append("            ")
                .append(paths())
                .append(") set -- \"$@\" $(")
                .append(THREADS)
                .append(") ;;\n        esac ;;\n    esac\n")
                .append("    COMPREPLY=($(compgen -W \"$*\" -- \"$current\"))\n")
                .append("    ((${#COMPREPLY[@]})) || COMPREPLY=($(compgen -f -- \"$current\"))\n}\n")
                .append("complete -F _viv viv\n")
                .toString();
    }

    private String paths() {
        return "'" + String.join("'|'", withThread) + "'";
    }

    /// Returns the pairs of a command and a word that form a longer command.
    private String steps(String separator) {
        var steps = new ArrayList<String>();
        for (String path : words.keySet()) {
            if (!path.isEmpty()) {
                int last = path.lastIndexOf(' ');
                steps.add("'" + (last < 0 ? " " + path : path) + "'");
            }
        }
        return String.join(separator, steps);
    }

    private String zsh() {
        var script = new StringBuilder("#compdef viv\n_viv() {\n    local path= word\n    local -a next\n");
        script.append("    for word in \"${(@)words[2,CURRENT-1]}\"; do\n        case \"$path $word\" in\n");
        script.append("            ").append(steps("|")).append(") path=\"${path:+$path }$word\" ;;\n");
        script.append("            *' --') _files; return ;;\n        esac\n    done\n    case $path in\n");
        words.forEach((path, following) -> {
            script.append("        '").append(path).append("') next=(");
            following.forEach(word -> script.append("'")
                    .append(word.text())
                    .append(word.about().isEmpty() ? "" : ":" + word.about())
                    .append("' "));
            script.append(") ;;\n");
        });
        script.append("    esac\n    case ${words[CURRENT-1]} in\n");
        VALUES.forEach((option, values) -> script.append("        ")
                .append(option)
                .append(") compadd -- ")
                .append(values)
                .append("; return ;;\n"));
        return script.append("    esac\n    case $path in\n        ")
                .append(paths())
                .append(") compadd -- ${(f)\"$(")
                .append(THREADS)
                .append(")\"} ;;\n    esac\n    _describe viv next || _files\n}\n_viv \"$@\"\n")
                .toString();
    }

    private String fish() {
        var script = new StringBuilder();
        words.forEach((path, following) -> {
            String when = path.isEmpty() ? "__fish_use_subcommand" : seen(path);
            for (Word word : following) {
                script.append("complete -c viv -n '").append(when).append("' ");
                script.append(word.isOption() ? "-" + (word.text().startsWith("--") ? "l " : "s ") : "-f -a ");
                script.append(word.text().replaceFirst("^-+", ""));
                String values = VALUES.get(word.text());
                script.append(values == null ? "" : " -x -a '" + values + "'");
                script.append(" -d '").append(word.about()).append("'\n");
            }
            if (withThread.contains(path)) {
                script.append("complete -c viv -n '").append(when).append("' -a '(" + THREADS + ")'\n");
            }
        });
        return script.toString();
    }

    private static String seen(String path) {
        return "__fish_seen_subcommand_from " + path.replace(" ", "; and __fish_seen_subcommand_from ");
    }
}
