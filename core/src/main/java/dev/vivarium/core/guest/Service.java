package dev.vivarium.core.guest;

/// Service of the guest for which a channel can be opened. Immutable.
///
/// The window is the maximum number of unread bytes of each stream on the host. It keeps a fast stream busy between two
/// credits. A channel starts with a smaller window, which is the cost of a caller that never reads.
public enum Service {
    EXEC(1, 2, 1 << 20),
    PTY(2, 1, 1 << 18),
    READ(3, 1, 1 << 20),
    WRITE(4, 0, 0),
    STAT(5, 0, 0),
    LIST(6, 1, 1 << 18),
    MKDIR(7, 0, 0),
    MOVE(8, 0, 0),
    REMOVE(9, 0, 0),
    WATCH(10, 1, 1 << 17),
    DIAL(11, 1, 1 << 18),
    STATS(12, 0, 0),
    SETUP(13, 0, 0),
    HASH(14, 0, 0),
    /// The window applies to each incoming connection.
    LISTEN(15, 0, 1 << 18);

    private static final int BATCH = 1 << 16;

    final int code;
    /// Number of streams to the host, numbered from 1.
    final int streams;
    /// Maximum credit of each stream; 0 if there are no streams and the request has no such field.
    final int window;

    /// Credit of each stream before the first read. LIST and WATCH wait for the credit of a whole batch, up to
    /// [#BATCH]. With twice that, either the credit suffices, or half a window was taken and its credit is
    /// returned.
    int initialWindow() {
        int initial = this == LIST || this == WATCH ? 2 * BATCH : BATCH;
        return Math.min(window, initial);
    }

    Service(int code, int streams, int window) {
        this.code = code;
        this.streams = streams;
        this.window = window;
    }
}
