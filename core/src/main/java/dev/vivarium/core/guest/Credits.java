package dev.vivarium.core.guest;

/// How much the guest may still send on each stream of a channel. Guarded by the channel's lock.
final class Credits {
    private final int window;

    /// Negative once the guest has sent EOF.
    private final int[] granted;

    /// What was taken from each stream and not given back as credit yet.
    private final int[] taken;

    Credits(Service service) {
        this.window = service.window;
        this.granted = new int[service.streams + 1];
        this.taken = new int[service.streams + 1];
        for (int stream = 1; stream <= service.streams; stream++) {
            granted[stream] = window;
        }
    }

    /// Counts what the guest has sent. Reports whether it had credit for that.
    boolean spend(int stream, int length) {
        if (stream == 0 || stream >= granted.length || granted[stream] < length) {
            return false;
        }
        granted[stream] -= length;
        return true;
    }

    /// Ends a stream. Reports whether it was open.
    boolean end(int stream) {
        if (stream == 0 || stream >= granted.length || granted[stream] < 0) {
            return false;
        }
        granted[stream] = -1;
        return true;
    }

    /// Counts what the reader took. Returns the credit to give back now: nothing, until it is half a window.
    int take(int stream, int length) {
        taken[stream] += length;
        if (taken[stream] < window / 2 || granted[stream] < 0) {
            return 0;
        }
        int credit = taken[stream];
        granted[stream] += credit;
        taken[stream] = 0;
        return credit;
    }
}
