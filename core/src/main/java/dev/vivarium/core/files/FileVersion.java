package dev.vivarium.core.files;

import dev.vivarium.core.guest.Fields;
import dev.vivarium.model.FileEntry;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/// One state of a file, told from others without reading its content: each write to a file changes its ctime, and a
/// file that takes its place has another inode. Immutable.
///
/// The clock of ctime ticks a few times in a hundredth of a second. A file that has just been changed may be changed
/// again within one tick, so that two states would have one version; see [#isSettled].
public record FileVersion(long inode, long size, long modifiedNanos, long changedNanos) {
    /// Content of up to this size is named by its hash; larger files are named by their version.
    public static final long HASHED_BYTES = 8L << 20;

    /// Content of up to this size is hashed for those who ask for the hash.
    public static final long MOST_HASHED_BYTES = 1L << 30;

    private static final long NANOS = 1_000_000_000L;
    private static final Duration TICKS = Duration.ofMillis(100);

    /// The fields after a `stat`; nothing from an older guest.
    static Optional<FileVersion> read(Fields fields, FileEntry entry) {
        return fields.isEmpty()
                ? Optional.empty()
                : Optional.of(new FileVersion(fields.u64(), entry.size(), nanos(entry.modified()), fields.i64()));
    }

    private static long nanos(Instant instant) {
        return instant.getEpochSecond() * NANOS + instant.getNano();
    }

    /// Reports whether no later change can have this version, at a moment when the file had it.
    public boolean isSettled(Instant now) {
        return nanos(now) - changedNanos > TICKS.toNanos();
    }

    /// The version as a text without quotes. No SHA-256 looks like that.
    public String tag() {
        return "v-" + hex(inode) + "-" + hex(size) + "-" + hex(modifiedNanos) + "-" + hex(changedNanos);
    }

    private static String hex(long number) {
        return Long.toHexString(number);
    }
}
