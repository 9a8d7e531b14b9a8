package dev.vivarium.cli.tty;

import com.google.errorprone.annotations.concurrent.GuardedBy;

/// Keys that were pressed before there was a shell for the first time: as on any slow terminal, they wait for it. Later
/// there is no such thing: who types into a lost connection sees an old screen. Thread-safe.
final class TypeAhead {
    private static final int MOST = 4096;

    @GuardedBy("this")
    private final StringBuilder keys = new StringBuilder();

    @GuardedBy("this")
    private boolean over;

    /// Reports whether the keys will be typed later.
    synchronized boolean keep(String text) {
        if (over || keys.length() + text.length() > MOST) {
            return false;
        }
        keys.append(text);
        return true;
    }

    /// What was kept. Nothing means that nothing more is kept from here on.
    synchronized String take() {
        String kept = keys.toString();
        keys.setLength(0);
        over = kept.isEmpty();
        return kept;
    }
}
