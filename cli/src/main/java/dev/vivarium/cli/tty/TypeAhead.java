package dev.vivarium.cli.tty;

import com.google.errorprone.annotations.concurrent.GuardedBy;

/// Input before the first connection, which the shell receives later. After a lost connection, input is discarded
/// instead, because the user sees an old screen. Thread-safe.
final class TypeAhead {
    private static final int MOST = 4096;

    @GuardedBy("this")
    private final StringBuilder keys = new StringBuilder();

    @GuardedBy("this")
    private boolean over;

    /// Reports whether the input is kept.
    synchronized boolean keep(String text) {
        if (over || keys.length() + text.length() > MOST) {
            return false;
        }
        keys.append(text);
        return true;
    }

    /// Returns the kept input and stops keeping input.
    synchronized String take() {
        String kept = keys.toString();
        keys.setLength(0);
        over = kept.isEmpty();
        return kept;
    }
}
