package dev.vivarium.cli;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import picocli.CommandLine;

/// Arguments of `viv`, with the global options that stand before the command. Immutable.
///
/// The parser accepts these options only after the whole command, so [#words] moves them there.
record Arguments(List<String> globals, String command, List<String> rest) {
    private static final Set<String> FLAGS = Set.of("--json", "--key-stdin");
    private static final Set<String> WITH_VALUE = Set.of("--server", "--profile", "--user", "--color");

    static Arguments of(String... args) {
        var rest = new ArrayList<>(Arrays.asList(args));
        List<String> globals = takeGlobals(rest);
        String command = rest.isEmpty() ? "" : rest.removeFirst();
        return new Arguments(globals, Commands.ALIASES.getOrDefault(command, command), rest);
    }

    /// Returns the word after the command and its global options, or an empty text.
    String subcommand() {
        var left = new ArrayList<>(rest);
        takeGlobals(left);
        return left.isEmpty() ? "" : left.getFirst();
    }

    /// Returns the arguments in the order of the parser. `root` has the command, if it exists.
    String[] words(CommandLine root) {
        if (command.isEmpty()) {
            return new String[0];
        }
        var words = new ArrayList<>(List.of(command));
        var options = new ArrayList<>(globals);
        var left = new ArrayList<>(rest);
        CommandLine parent = root.getSubcommands().get(command);
        while (parent != null && !parent.getSubcommands().isEmpty()) {
            options.addAll(takeGlobals(left));
            parent = left.isEmpty() ? null : parent.getSubcommands().get(left.getFirst());
            if (parent != null) {
                words.add(left.removeFirst());
            }
        }
        if (!command.startsWith("-")) {
            words.addAll(options);
        }
        words.addAll(left);
        return words.toArray(String[]::new);
    }

    private static List<String> takeGlobals(List<String> args) {
        var taken = new ArrayList<String>();
        while (!args.isEmpty()) {
            String first = args.getFirst();
            String name = first.replaceFirst("=.*", "");
            boolean hasValue = WITH_VALUE.contains(name);
            if (!hasValue && !FLAGS.contains(first)) {
                break;
            }
            taken.add(args.removeFirst());
            if (hasValue && name.equals(first) && !args.isEmpty()) {
                taken.add(args.removeFirst());
            }
        }
        return taken;
    }
}
