package dev.vivarium.core.shell;

import dev.vivarium.model.Failure;

/// Terminal size. Sizes above the maximum are reduced to it. Immutable.
public record TerminalSize(int columns, int rows) {
    public static final TerminalSize USUAL = new TerminalSize(80, 24);

    private static final int LARGEST = 1_000;

    public TerminalSize {
        Failure.InvalidRequest.require(columns >= 1 && rows >= 1, "size", "must be at least one column and one row");
        columns = Math.min(columns, LARGEST);
        rows = Math.min(rows, LARGEST);
    }
}
