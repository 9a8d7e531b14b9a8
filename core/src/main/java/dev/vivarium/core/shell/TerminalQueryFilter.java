package dev.vivarium.core.shell;

import java.util.regex.Pattern;

/// Filter that removes terminal queries (cursor position, capabilities, colours) from replayed output. Stateless.
///
/// A viewer that joins later must not answer an old query: its answer would become input of the program that runs now.
final class TerminalQueryFilter {
    /// Device attributes and status, modes, name and version, colours, settings.
    private static final Pattern ANY = Pattern.compile("\u001b(?:"
            + "\\[[?>=]?[0-9;]*[cn]"
            + "|\\[\\??[0-9;]*\\$p"
            + "|\\[>[0-9;]*q"
            + "|\\[(?:1[1345689]|2[01])t"
            + "|\\](?:4;[0-9]+|1[0-9]|5[02]);(?:[a-z0-9]*;)?\\?(?:\u0007|\u001b\\\\)"
            + "|P[+$]q[^\u001b]*\u001b\\\\"
            + "|Z)");

    private TerminalQueryFilter() {}

    /// Returns the text without queries. Does not find a query that is split by the end of the text.
    static String without(String text) {
        return text.indexOf('\u001b') < 0 ? text : ANY.matcher(text).replaceAll("");
    }
}
