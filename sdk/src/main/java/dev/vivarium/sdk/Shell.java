package dev.vivarium.sdk;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// How words become a line that `bash` reads back as the same words.
public final class Shell {
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_@%+=:,./-]+");

    private Shell() {}

    /// One command line for the given program and arguments; nothing in them is expanded.
    public static String quote(List<String> words) {
        return words.stream().map(Shell::quote).collect(Collectors.joining(" "));
    }

    /// One word, in single quotes if it needs them.
    public static String quote(String word) {
        return PLAIN.matcher(word).matches() ? word : "'" + word.replace("'", "'\\''") + "'";
    }
}
