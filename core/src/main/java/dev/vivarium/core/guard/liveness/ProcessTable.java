package dev.vivarium.core.guard.liveness;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.StringJoiner;
import java.util.regex.Pattern;

/// Processes of a sandbox, from `/proc`. Immutable.
record ProcessTable(List<Row> rows) {
    /// Prints the parent of the shell, which is the guest, and the state of each process. Starts no process.
    static final String SCRIPT = """
            echo "$PPID"
            for d in /proc/[0-9]*; do
              s=; w=
              { read -r s < "$d/stat"; } 2> /dev/null
              [ -n "$s" ] || continue
              { read -r w < "$d/wchan"; } 2> /dev/null
              printf '%s\\t%s\\n' "$s" "$w"
            done""";

    /// A line of `stat`: id, name, state, parent. A name can contain parentheses.
    private static final Pattern STAT = Pattern.compile("(\\d+) \\((.*)\\) (\\S) (\\d+)[^\\t]*\\t(.*)");

    /// @param state   letter of the kernel, for example `T` for a stopped process
    /// @param channel kernel function in which the process waits; `0` for none
    record Row(int pid, int parent, String state, String name, String channel) {}

    ProcessTable {
        rows = List.copyOf(rows);
    }

    /// Reads the output of the script. Keeps only the guest and its descendants, because a sandbox without
    /// isolation sees all processes of the host.
    static ProcessTable parse(String output) {
        var rows = new ArrayList<Row>();
        List<String> lines = output.lines().toList();
        for (String line : lines) {
            var found = STAT.matcher(line);
            if (found.matches()) {
                rows.add(new Row(
                        Integer.parseInt(found.group(1)),
                        Integer.parseInt(found.group(4)),
                        found.group(3),
                        found.group(2),
                        found.group(5)));
            }
        }
        var all = new ProcessTable(rows);
        boolean hasGuest = !lines.isEmpty() && lines.getFirst().matches("\\d{1,9}");
        return hasGuest ? all.below(Integer.parseInt(lines.getFirst())) : all;
    }

    /// Returns a process and its descendants, or all processes if it is not in the table.
    private ProcessTable below(int root) {
        if (find(root).isEmpty()) {
            return this;
        }
        Set<Integer> below = descendants(root);
        return new ProcessTable(rows.stream()
                .filter(row -> row.pid == root || below.contains(row.pid))
                .toList());
    }

    Optional<Row> find(int pid) {
        return rows.stream().filter(row -> row.pid == pid).findFirst();
    }

    /// Returns the children of a process, their children, and so on.
    Set<Integer> descendants(int pid) {
        var found = new HashSet<Integer>();
        boolean isGrowing = true;
        while (isGrowing) {
            isGrowing = false;
            for (Row row : rows) {
                boolean isBelow = row.parent == pid || found.contains(row.parent);
                isGrowing |= isBelow && row.pid != pid && found.add(row.pid);
            }
        }
        return found;
    }

    /// Returns the state of a process as a word.
    static String word(String state) {
        return switch (state) {
            case "R" -> "running";
            case "S", "I" -> "sleeping";
            case "D" -> "blocked";
            case "T" -> "stopped";
            case "t" -> "traced";
            case "Z", "X" -> "dead";
            default -> "unknown";
        };
    }

    String text() {
        var text = new StringJoiner("\n", "pid\tparent\tstate\twait channel\tname\n", "\n");
        rows.forEach(row -> text.add(row.pid + "\t" + row.parent + "\t" + row.state + " " + word(row.state) + "\t"
                + row.channel + "\t" + row.name));
        return text.toString();
    }
}
