package dev.vivarium.cli.sync;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/// Ignored paths on both sides, by the rules of gitignore: the last matching rule decides, and everything below an
/// ignored directory is ignored. Immutable.
public final class Ignore {
    /// Always ignored: histories, caches and machine-specific files.
    private static final List<String> ALWAYS =
            List.of(".git/", "node_modules/", ".venv/", "target/", "__pycache__/", ".DS_Store", ".viv/", ".viv-sync-*");

    private final List<Rule> rules;

    private Ignore(List<Rule> rules) {
        this.rules = rules;
    }

    private record Rule(Pattern pattern, boolean negated, boolean directoriesOnly) {}

    /// Returns the rules of these lines after the built-in rules.
    public static Ignore of(List<String> lines) {
        var rules = new ArrayList<Rule>();
        ALWAYS.forEach(line -> add(rules, line));
        lines.forEach(line -> add(rules, line));
        return new Ignore(rules);
    }

    private static void add(List<Rule> rules, String line) {
        String text = line.stripTrailing();
        if (text.isEmpty() || text.startsWith("#")) {
            return;
        }
        boolean negated = text.startsWith("!");
        text = negated ? text.substring(1) : text;
        text = text.startsWith("\\") ? text.substring(1) : text;
        boolean directories = text.endsWith("/");
        text = directories ? text.substring(0, text.length() - 1) : text;
        boolean anchored = text.indexOf('/') >= 0;
        text = text.startsWith("/") ? text.substring(1) : text;
        rules.add(new Rule(Pattern.compile((anchored ? "" : "(?:.*/)?") + regex(text)), negated, directories));
    }

    /// Reports whether the file or one of its parent directories is ignored.
    public boolean covers(String path) {
        for (int slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
            if (matches(path.substring(0, slash), true)) {
                return true;
            }
        }
        return matches(path, false);
    }

    /// Reports whether the whole directory is ignored.
    public boolean coversDirectory(String path) {
        return covers(path + "/");
    }

    private boolean matches(String path, boolean directory) {
        if (path.isEmpty()) {
            return false;
        }
        boolean ignored = false;
        for (Rule rule : rules) {
            if ((directory || !rule.directoriesOnly())
                    && rule.pattern().matcher(path).matches()) {
                ignored = !rule.negated();
            }
        }
        return ignored;
    }

    private static String regex(String glob) {
        var regex = new StringBuilder();
        for (int i = 0; i < glob.length(); i++) {
            char c = glob.charAt(i);
            if (glob.startsWith("**/", i)) {
                regex.append("(?:.*/)?");
                i += 2;
            } else if (glob.startsWith("**", i)) {
                regex.append(".*");
                i++;
            } else if (c == '[' && glob.indexOf(']', i + 2) > 0) {
                int end = glob.indexOf(']', i + 2);
                regex.append(set(glob.substring(i + 1, end)));
                i = end;
            } else {
                regex.append(
                        switch (c) {
                            case '*' -> "[^/]*";
                            case '?' -> "[^/]";
                            default -> Pattern.quote(String.valueOf(c));
                        });
            }
        }
        return regex.toString();
    }

    private static String set(String inside) {
        boolean not = inside.startsWith("!") || inside.startsWith("^");
        String members = (not ? inside.substring(1) : inside)
                .replace("\\", "\\\\")
                .replace("[", "\\[")
                .replace("&", "\\&");
        return "[" + (not ? "^/" : "") + members + "]";
    }
}
