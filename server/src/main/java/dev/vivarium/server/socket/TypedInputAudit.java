package dev.vivarium.server.socket;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;

/// How much somebody typed that is not on record yet. It comes on record when a line is done, when it has become much
/// or when it has waited long: a note for each key would drown all others. Thread-safe.
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

    /// How many characters should come on record now; they are counted no more.
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
