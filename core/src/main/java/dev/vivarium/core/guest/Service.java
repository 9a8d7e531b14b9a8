package dev.vivarium.core.guest;

/// What a channel can be opened for. Immutable.
///
/// The window is how many bytes of each stream may wait on the host: enough to keep a fast stream busy between two
/// returns of credit. A channel begins with a smaller one, which is what a caller costs that never reads.
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
    /// The window is that of each connection which comes.
    LISTEN(15, 0, 1 << 18);

    private static final int BATCH = 1 << 16;

    final int code;
    /// How many streams, numbered from 1, flow to the host.
    final int streams;
    /// The largest credit of each of them; 0 when there is none and the request has no such field.
    final int window;

    /// What the guest may send on each stream before anything of it was read. LIST and WATCH wait for the credit of
    /// a whole batch, up to [#BATCH]: with twice that, either the credit is there or half a window was taken and
    /// comes back.
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
