package dev.vivarium.core.guard.trajectory;

import dev.vivarium.model.TaskConstraints;
import dev.vivarium.model.ToolCall;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Check of steps against the constraints of a task. Stateless.
final class Constraint {
    private static final String WORKSPACE = "/workspace/";
    private static final Pattern URL =
            Pattern.compile("\\b(?:https?|wss?|ftp|git|ssh)://(?:[^/@\\s'\"]*@)?([^/:\\s'\"]+)");
    private static final Set<String> LOCAL = Set.of("localhost", "127.0.0.1", "0.0.0.0", "[", "::1");

    /// Tools that every task allows.
    private static final Pattern OWN =
            Pattern.compile("mcp__vivarium__.*|request_review|report_progress|think|finish|TodoWrite|" + Steps.PROCESS);

    /// Names of tools in tasks, with the names in the runtimes.
    private static final Map<String, Set<String>> NAMES = Map.of(
            "bash", Set.of("Bash", "BashOutput", "KillShell", "terminal", "execute_bash"),
            "read_file", Set.of("Read", "file_editor", "str_replace_editor"),
            "write_file", Set.of("Write", "file_editor", "str_replace_editor"),
            "edit_file", Set.of("Edit", "MultiEdit", "NotebookEdit", "file_editor", "str_replace_editor"),
            "search", Set.of("Grep", "Glob", "grep", "glob"));

    private Constraint() {}

    /// A step outside of a constraint.
    record Violation(String key, String text) {}

    /// Returns the violation of a call, if it is one.
    static Optional<Violation> violation(TaskConstraints constraints, ToolCall call) {
        return tool(constraints, call).or(() -> host(constraints, call));
    }

    /// Returns the violation of a change of a file, if it is one.
    static Optional<Violation> violation(TaskConstraints constraints, String path) {
        return constraints
                .paths()
                .filter(allowed -> allowed.stream().noneMatch(entry -> contains(entry, path)))
                .map(_ -> new Violation(
                        "path " + Excerpt.of(path, 100),
                        "the file " + Excerpt.of(path, 100) + " changed, which allowed_paths does not contain"));
    }

    private static Optional<Violation> tool(TaskConstraints constraints, ToolCall call) {
        boolean isAllowed = OWN.matcher(call.tool()).matches()
                || constraints
                        .tools()
                        .filter(allowed -> allowed.stream().noneMatch(name -> isTool(name, call.tool())))
                        .isEmpty();
        String tool = Excerpt.of(call.tool(), 60);
        return isAllowed
                ? Optional.empty()
                : Optional.of(new Violation(
                        "tool " + tool, "the tool " + tool + " was called, which allowed_tools does not contain"));
    }

    private static boolean isTool(String name, String tool) {
        return name.equals(tool) || NAMES.getOrDefault(name, Set.of()).contains(tool);
    }

    private static Optional<Violation> host(TaskConstraints constraints, ToolCall call) {
        if (constraints.hosts().isEmpty()) {
            return Optional.empty();
        }
        List<String> allowed = constraints.hosts().get();
        Matcher found = URL.matcher(call.command().orElse("") + " " + call.url().orElse(""));
        while (found.find()) {
            String host = found.group(1).toLowerCase(Locale.ROOT);
            if (!LOCAL.contains(host) && allowed.stream().noneMatch(entry -> isHost(entry, host))) {
                String shown = Excerpt.of(host, 100);
                return Optional.of(new Violation(
                        "host " + shown, "a call named the host " + shown + ", which allowed_hosts does not contain"));
            }
        }
        return Optional.empty();
    }

    private static boolean isHost(String entry, String host) {
        String name = entry.toLowerCase(Locale.ROOT);
        return name.startsWith("*.") ? host.endsWith(name.substring(1)) : host.equals(name.replaceAll(":\\d+$", ""));
    }

    /// Reports whether an entry of `allowed_paths` contains a file: the file itself, a directory above it, or a
    /// glob.
    private static boolean contains(String entry, String path) {
        String plain = entry.startsWith(WORKSPACE) ? entry.substring(WORKSPACE.length()) : entry;
        String stripped = plain.replaceAll("^\\./|/+$", "");
        if (stripped.isEmpty() || stripped.equals(".") || path.equals(stripped) || path.startsWith(stripped + "/")) {
            return true;
        }
        if (!stripped.matches(".*[*?\\[{].*")) {
            return false;
        }
        try {
            return FileSystems.getDefault().getPathMatcher("glob:" + stripped).matches(Path.of(path));
        } catch (IllegalArgumentException e) {
            // An invalid glob or file name allows nothing.
            return false;
        }
    }
}
