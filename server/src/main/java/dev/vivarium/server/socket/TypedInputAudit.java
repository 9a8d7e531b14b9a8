package dev.vivarium.server.socket;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;

/// Counter of typed characters that are not in the audit yet. Thread-safe.
///
/// They are due when a line is complete, when they are many, or after ten seconds. An entry for each key would displace
/// all other entries.
final class TypedInputAudit {
    private static final int MUCH = 4_096;
    private static final Duration LONG = Duration.ofSeconds(10);

    @GuardedBy("this")
    private int characters;

    @GuardedBy("this")
    private boolean hasLine;

    @GuardedBy("this")
    private long since;

    synchronized void add(String data) {
        if (characters == 0) {
            since = System.nanoTime();
        }
        characters += data.length();
        hasLine |= data.indexOf('\r') >= 0 || data.indexOf('\n') >= 0;
    }

    /// Returns the number of characters to record now, and resets it. Returns 0 if none are due.
    synchronized int takeDue() {
        boolean isOld = System.nanoTime() - since > LONG.toNanos();
        return hasLine || characters > MUCH || isOld ? takeAll() : 0;
    }

    synchronized int takeAll() {
        int all = characters;
        characters = 0;
        hasLine = false;
        return all;
    }
}
