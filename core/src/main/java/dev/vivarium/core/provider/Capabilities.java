package dev.vivarium.core.provider;

/// Capabilities of a provider on this host, probed at start and shown by `/health`. Immutable.
///
/// @param isolation one sentence for people about the isolation between a machine and the host
/// @param diskLimit how the disk limit is enforced, for example `loop-ext4`, `project-quota` or `none`
/// @param snapshots how snapshots are stored: `reflink` (shares unchanged blocks), `copy`, or `none` (not supported)
/// @param cgroups   `v1`, `v2`, `hybrid` or `none`
/// @param processes who reports the processes that programs in a machine start: `kernel` or `none`
public record Capabilities(
        String isolation,
        String diskLimit,
        String snapshots,
        String cgroups,
        String processes,
        boolean isolates,
        boolean pauses,
        boolean limits) {
    public boolean keepsSnapshots() {
        return !snapshots.equals("none");
    }
}
