package dev.vivarium.core.files;

import dev.vivarium.core.guest.Fields;
import dev.vivarium.model.FileEntry;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/// State of a file, identified without reading its content. Immutable.
///
/// Each write to a file changes its ctime, and a replacement has another inode.
///
/// The clock of ctime has a resolution of a few milliseconds. Two writes within one tick yield the same version for two
/// states; see [#isSettled].
public record FileVersion(long inode, long size, long modifiedNanos, long changedNanos) {
    /// Maximum size of a file that is identified by its hash. A larger file is identified by its version.
    public static final long ALWAYS_HASHED_BYTES = 8L << 20;

    /// Maximum size of a file that is hashed on request.
    public static final long MAX_HASHED_BYTES = 1L << 30;

    private static final long NANOS = 1_000_000_000L;
    private static final Duration TICKS = Duration.ofMillis(100);

    /// Decodes the fields after a `stat`. Returns nothing if the guest is too old to send them.
    static Optional<FileVersion> read(Fields fields, FileEntry entry) {
        return fields.isEmpty()
                ? Optional.empty()
                : Optional.of(new FileVersion(fields.u64(), entry.size(), nanos(entry.modified()), fields.i64()));
    }

    private static long nanos(Instant instant) {
        return instant.getEpochSecond() * NANOS + instant.getNano();
    }

    /// Reports whether no later change can have this version. `now` is a time at which the file had this version.
    public boolean isSettled(Instant now) {
        return nanos(now) - changedNanos > TICKS.toNanos();
    }

    /// Returns the version as text without quotes. The text never looks like a SHA-256.
    public String tag() {
        return "v-" + hex(inode) + "-" + hex(size) + "-" + hex(modifiedNanos) + "-" + hex(changedNanos);
    }

    private static String hex(long number) {
        return Long.toHexString(number);
    }
}
