package dev.vivarium.core.guest;

import dev.vivarium.core.ByteBudget;

/// Remaining credit of the guest on each stream of a channel, with the memory that is reserved for it. Guarded by the
/// lock of its channel.
///
/// A window starts with [Service#initialWindow], so that an unread channel costs little. It doubles each time its
/// reader has taken half of it, up to [Service#window] and while the budget has free bytes.
final class ReceiveWindow {
    private final Service service;
    private final ByteBudget.Reservation memory;
    private final int[] size;

    /// Remaining credit of the guest; negative after EOF.
    private final int[] granted;

    /// Bytes that the reader took and that are not returned as credit yet.
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

    /// Counts received bytes. Throws if they exceed the credit of the guest.
    void arrived(int stream, int length) {
        if (stream < 1 || stream >= granted.length || granted[stream] < length) {
            throw new ProtocolViolation(service + " sent more than its credit on stream " + stream);
        }
        granted[stream] -= length;
    }

    /// Counts an EOF. Returns true if it is the first EOF of an existing stream.
    boolean ended(int stream) {
        if (stream < 1 || stream >= granted.length || granted[stream] < 0) {
            return false;
        }
        granted[stream] = -1;
        return true;
    }

    /// Counts bytes that the reader took. Returns the credit to send now, which is 0 below half a window.
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

    /// Releases the reserved memory. Idempotent.
    void release() {
        memory.close();
    }
}
