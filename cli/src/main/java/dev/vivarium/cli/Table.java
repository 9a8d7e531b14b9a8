package dev.vivarium.cli;

import dev.vivarium.cli.tty.Printable;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/// Table of results. On a terminal: aligned columns, relative times and truncated values. In a pipe: tab-separated full
/// values. Both start with the names of the columns. Confined to one thread.
final class Table {
    private static final String GAP = "  ";
    private static final String BOLD = "\u001b[1m";
    private static final String PLAIN = "\u001b[0m";

    private final Terminal terminal;
    private final boolean coloured;
    private final List<String> names;
    private final List<List<String>> rows = new ArrayList<>();

    Table(Terminal terminal, OutputOptions output, String... names) {
        this.terminal = terminal;
        this.coloured = output.isColoured(terminal.env(), terminal.ttys().out());
        this.names = List.of(names);
    }

    void row(String... cells) {
        rows.add(List.of(cells));
    }

    /// Returns a relative time for a terminal, and the exact time for a pipe.
    String time(Instant moment) {
        return terminal.ttys().out() ? age(Duration.between(moment, Instant.now())) : moment.toString();
    }

    /// Returns a rounded size for a terminal, and the number of bytes for a pipe.
    String size(long bytes) {
        return terminal.ttys().out() ? rounded(bytes) : Long.toString(bytes);
    }

    static String rounded(long bytes) {
        if (bytes < 1_000) {
            return bytes + " B";
        }
        String[] units = {"kB", "MB", "GB", "TB", "PB", "EB"};
        double value = bytes / 1_000.0;
        int unit = 0;
        while (value >= 999.95) {
            value /= 1_000;
            unit++;
        }
        return Math.round(value * 10) / 10.0 + " " + units[unit];
    }

    static String age(Duration span) {
        String sign = span.isNegative() ? "in " : "";
        Duration length = span.abs();
        String text = length.toMinutes() < 2
                ? length.toSeconds() + "s"
                : length.toHours() < 2
                        ? length.toMinutes() + "m"
                        : length.toDays() < 2 ? length.toHours() + "h" : length.toDays() + "d";
        return sign + text;
    }

    void print() {
        if (terminal.ttys().out()) {
            printColumns();
        } else {
            terminal.out().println(String.join("\t", names));
            rows.forEach(row -> terminal.out()
                    .println(String.join("\t", row.stream().map(Table::flat).toList())));
        }
        terminal.out().flush();
    }

    private void printColumns() {
        int[] widths = new int[names.size()];
        measure(widths, names);
        rows.forEach(row -> measure(widths, row));
        String head = line(names, widths);
        terminal.out().println(coloured ? BOLD + head + PLAIN : head);
        rows.forEach(row -> terminal.out().println(line(row, widths)));
    }

    private static void measure(int[] widths, List<String> row) {
        for (int i = 0; i < row.size(); i++) {
            widths[i] = Math.max(widths[i], Printable.text(row.get(i)).length());
        }
    }

    private String line(List<String> row, int[] widths) {
        var line = new StringBuilder();
        for (int i = 0; i < row.size(); i++) {
            String cell = Printable.text(row.get(i));
            line.append(cell);
            if (i < row.size() - 1) {
                line.append(" ".repeat(widths[i] - cell.length())).append(GAP);
            }
        }
        int columns = terminal.ttys().columns();
        return columns > 1 && line.length() > columns ? line.substring(0, columns - 1) + "…" : line.toString();
    }

    /// Escapes tabs and line feeds, which would separate values, and backslashes, so that a script can undo it.
    private static String flat(String cell) {
        return Printable.text(cell.replace("\\", "\\\\"));
    }
}
