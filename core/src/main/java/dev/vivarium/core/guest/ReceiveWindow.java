package dev.vivarium.core.guest;

import dev.vivarium.core.ByteBudget;

/// How much the guest may still send on each stream of a channel, and the memory that is reserved for it. Guarded by
/// the lock of its channel.
///
/// A window begins with [Service#initialWindow], so that a channel that nobody reads costs little. It doubles each time
/// its reader has taken half of it, up to [Service#window] and while the budget has bytes to spare.
final class ReceiveWindow {
    private final Service service;
    private final ByteBudget.Reservation memory;
    private final int[] size;

    /// How much the guest may still send; negative after EOF.
    private final int[] granted;

    /// Bytes that the reader took and that were not returned as credit yet.
    private final int[] taken;

    ReceiveWindow(Service service, ByteBudget.Reservation memory) {
        this.service = service;
        this.memory = memory;
        this.size = new int[service.streams + 1];
        this.granted = new int[service.streams + 1];
        this.taken = new int[service.streams + 1];
        for (int stream = 1; stream <= service.streams; stream++) {
            size[stream] = service.initialWindow();
            granted[stream] = size[stream];
        }
    }

    /// Counts bytes that have arrived. Throws when the guest had no credit for them.
    void arrived(int stream, int length) {
        if (stream < 1 || stream >= granted.length || granted[stream] < length) {
            throw new ProtocolViolation(service + " sent more than its credit on stream " + stream);
        }
        granted[stream] -= length;
    }

    /// Counts an EOF. Reports whether it is the first of an existing stream.
    boolean ended(int stream) {
        if (stream < 1 || stream >= granted.length || granted[stream] < 0) {
            return false;
        }
        granted[stream] = -1;
        return true;
    }

    /// Counts what the reader took. Returns the credit to give back now: nothing, until it is half a window.
    int taken(int stream, int length) {
        taken[stream] += length;
        if (taken[stream] < size[stream] / 2 || granted[stream] < 0) {
            return 0;
        }
        int credit = taken[stream];
        int more = Math.min(size[stream], service.window - size[stream]);
        if (more > 0 && memory.tryAddSpare(more)) {
            size[stream] += more;
            credit += more;
        }
        granted[stream] += credit;
        taken[stream] = 0;
        return credit;
    }

    /// Gives the memory back: nothing is held any more. Idempotent.
    void release() {
        memory.close();
    }
}
