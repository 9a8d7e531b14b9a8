package dev.vivarium.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/// Completion script for a shell, generated from the command model. Immutable.
///
/// @param words for each command, by its names joined with spaces, the words that may follow: subcommands first, then
///     options
/// @param lists for each command that takes a name, the command that prints the known names
record Completion(Map<String, List<Word>> words, Map<String, String> lists) {
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

    /// Prints the names of the user's threads.
    private static final String THREADS = "viv threads -q 2>/dev/null";

    /// Prints the ids of the user's tasks.
    private static final String TASKS = "viv task ls -q 2>/dev/null";

    /// Prints the ids of the user's runs.
    private static final String RUNS = "viv runs -q 2>/dev/null";

    /// Values of options, by their names. An option of one command has the command before its name.
    private static final Map<String, String> VALUES = new TreeMap<>(Map.ofEntries(
            Map.entry("--color", "auto always never"),
            Map.entry("--dependents", "keep cancel"),
            Map.entry("--escape", "~ none"),
            Map.entry("--prefer", "local remote"),
            Map.entry("--priority", "low medium high critical"),
            Map.entry("--forge", "github gitea none"),
            Map.entry("--format", "json slack"),
            Map.entry("--guardian", "off watch steer stop"),
            Map.entry("--method", "merge squash rebase"),
            Map.entry("--on-success", "push pull_request"),
            Map.entry("--runtime", "claude openhands command"),
            Map.entry("--severity", "info warning critical"),
            Map.entry("--scope", "fs:ro fs:rw shell shell:ro process snapshot"),
            Map.entry("--status", "running paused completed failed terminated"),
            Map.entry("--run", "$(" + RUNS + ")"),
            Map.entry("--state", "open closed all"),
            Map.entry("--task", "$(" + TASKS + ")"),
            Map.entry("--thread", "$(" + THREADS + ")"),
            Map.entry("task add --after", "$(" + TASKS + ")"),
            Map.entry("task add --runtime", "claude openhands command none"),
            Map.entry("task ls --status", "pending ready assigned running retrying blocked completed failed cancelled"),
            Map.entry("webhook deliveries --status", "pending delivered dead")));

    /// Commands that print names, by the labels of the parameters that take such names.
    private static final Map<Pattern, String> LISTS = Map.of(
            Pattern.compile("(THREAD|ID|FROM|TO).*"),
            THREADS,
            Pattern.compile("RUN"),
            RUNS,
            Pattern.compile("TASK_ID"),
            TASKS,
            Pattern.compile("CREDENTIAL"),
            "viv git credential ls -q 2>/dev/null",
            Pattern.compile("WEBHOOK_ID"),
            "viv webhook ls -q 2>/dev/null");

    static Completion of(CommandLine root) {
        var words = new TreeMap<String, List<Word>>();
        var lists = new TreeMap<String, String>();
        collect("", root, words, lists);
        words.computeIfPresent("", (_, following) -> {
            following.addAll(0, SERVERS);
            return following;
        });
        return new Completion(words, lists);
    }

    private static void collect(
            String path, CommandLine command, Map<String, List<Word>> words, Map<String, String> lists) {
        var here = new ArrayList<Word>();
        words.put(path, here);
        command.getSubcommands().forEach((name, sub) -> {
            here.add(new Word(name, about(sub.getCommandSpec().usageMessage().description())));
            collect(path.isEmpty() ? name : path + " " + name, sub, words, lists);
        });
        for (OptionSpec option : command.getCommandSpec().options()) {
            here.add(new Word(option.longestName(), about(option.description())));
        }
        for (PositionalParamSpec given : command.getCommandSpec().positionalParameters()) {
            LISTS.forEach((label, list) -> {
                if (label.matcher(given.paramLabel()).matches()) {
                    lists.put(path, list);
                }
            });
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
                .append("    case \"$path ${COMP_WORDS[COMP_CWORD-1]}\" in\n");
        values((option, values) -> script.append("        ")
                .append(option)
                .append(") set -- ")
                .append(values)
                .append(" ;;\n"));
        script.append("        *) [[ $current == -* ]] || case $path in\n");
        lists.forEach((path, list) -> script.append("            '")
                .append(path)
                .append("') set -- \"$@\" $(")
                .append(list)
                .append(") ;;\n"));
        return script.append("        esac ;;\n    esac\n")
                .append("    COMPREPLY=($(compgen -W \"$*\" -- \"$current\"))\n")
                .append("    ((${#COMPREPLY[@]})) || COMPREPLY=($(compgen -f -- \"$current\"))\n}\n")
                .append("complete -F _viv viv\n")
                .toString();
    }

    /// Passes a pattern for a command and its option, and the values: those of one command first.
    private static void values(BiConsumer<String, String> target) {
        VALUES.forEach((option, values) -> {
            if (!option.startsWith("-")) {
                target.accept("'" + option + "'", values);
            }
        });
        VALUES.forEach((option, values) -> {
            if (option.startsWith("-")) {
                target.accept("*' " + option + "'", values);
            }
        });
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
        script.append("    esac\n    case \"$path ${words[CURRENT-1]}\" in\n");
        values((option, values) -> script.append("        ")
                .append(option)
                .append(") compadd -- ")
                .append(values)
                .append("; return ;;\n"));
        script.append("    esac\n    case $path in\n");
        lists.forEach((path, list) -> script.append("        '")
                .append(path)
                .append("') compadd -- ${(f)\"$(")
                .append(list)
                .append(")\"} ;;\n"));
        return script.append("    esac\n    _describe viv next || _files\n}\n_viv \"$@\"\n")
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
                values(path, word.text()).ifPresent(values -> script.append(" -x -a '" + values + "'"));
                script.append(" -d '").append(word.about()).append("'\n");
            }
            String list = lists.get(path);
            script.append(list == null ? "" : "complete -c viv -n '" + when + "' -a '(" + list + ")'\n");
        });
        return script.toString();
    }

    /// Returns the values of an option for fish, whose substitutions have no dollar sign.
    private static Optional<String> values(String path, String option) {
        return Optional.ofNullable(VALUES.get(path + " " + option))
                .or(() -> Optional.ofNullable(VALUES.get(option)))
                .map(values -> values.replace("$(", "("));
    }

    private static String seen(String path) {
        return "__fish_seen_subcommand_from " + path.replace(" ", "; and __fish_seen_subcommand_from ");
    }
}
