package dev.vivarium.core.shell;

import java.util.regex.Pattern;

/// What a program asks of a terminal: where the cursor is, what it can do, which colours it has. Whoever comes later
/// must not answer what was asked before: the answer would be typed into whatever runs by now. Stateless.
final class TerminalQueryFilter {
    /// Device attributes and status, modes, the name and version, colours, settings.
    private static final Pattern ANY = Pattern.compile("\u001b(?:"
            + "\\[[?>=]?[0-9;]*[cn]"
            + "|\\[\\??[0-9;]*\\$p"
            + "|\\[>[0-9;]*q"
            + "|\\[(?:1[1345689]|2[01])t"
            + "|\\](?:4;[0-9]+|1[0-9]|5[02]);(?:[a-z0-9]*;)?\\?(?:\u0007|\u001b\\\\)"
            + "|P[+$]q[^\u001b]*\u001b\\\\"
            + "|Z)");

    private TerminalQueryFilter() {}

    /// The text without them. One that is cut in two by the end of the text is not found.
    static String without(String text) {
        return text.indexOf('\u001b') < 0 ? text : ANY.matcher(text).replaceAll("");
    }
}
