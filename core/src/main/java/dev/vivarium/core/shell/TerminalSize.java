package dev.vivarium.core.shell;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;

/// Terminal size. Sizes above the maximum are reduced to it. Immutable.
public record TerminalSize(int columns, int rows) {
    /// Default size.
    public static final TerminalSize USUAL = new TerminalSize(80, 24);

    private static final int LARGEST = 1_000;

    public TerminalSize {
        if (columns < 1 || rows < 1) {
            throw new SandboxException(new Failure.InvalidRequest("size", "must be at least one column and one row"));
        }
        columns = Math.min(columns, LARGEST);
        rows = Math.min(rows, LARGEST);
    }
}
