package dev.vivarium.core.guest;

import java.time.Duration;

/// Resource usage of a sandbox, measured by its guest. Immutable.
public record GuestStats(
        int processes,
        Duration cpu,
        long memoryBytes,
        long diskTotal,
        long diskFree,
        long inodesTotal,
        long inodesFree,
        Duration uptime) {
    static GuestStats read(Fields fields) {
        return new GuestStats(
                (int) Math.min(Integer.MAX_VALUE, fields.u32()),
                fields.micros(),
                fields.u64(),
                fields.u64(),
                fields.u64(),
                fields.u64(),
                fields.u64(),
                fields.millis());
    }
}
