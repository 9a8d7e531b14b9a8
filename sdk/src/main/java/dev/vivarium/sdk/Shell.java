package dev.vivarium.sdk;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Quoting of words for `bash`. Stateless.
public final class Shell {
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_@%+=:,./-]+");

    private Shell() {}

    /// Returns a command line for the program and its arguments. Nothing in them is expanded.
    public static String quote(List<String> words) {
        return words.stream().map(Shell::quote).collect(Collectors.joining(" "));
    }

    /// Returns one word, in single quotes if necessary.
    public static String quote(String word) {
        return PLAIN.matcher(word).matches() ? word : "'" + word.replace("'", "'\\''") + "'";
    }
}
