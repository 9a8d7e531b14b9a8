package dev.vivarium.core.provider;

/// What a provider offers on this host, probed at start and shown by `/health`. Immutable.
///
/// @param isolation one sentence for people on what separates a machine from the host
/// @param diskLimit how the disk limit is enforced, for example `loop-ext4`, `project-quota` or `none`
/// @param snapshots how snapshots are kept: `reflink` (shares unchanged blocks), `copy`, or `none` (not supported)
/// @param cgroups   `v1`, `v2`, `hybrid` or `none`
public record Capabilities(
        String isolation,
        String diskLimit,
        String snapshots,
        String cgroups,
        boolean isolates,
        boolean pauses,
        boolean limits) {
    public boolean keepsSnapshots() {
        return !snapshots.equals("none");
    }
}
