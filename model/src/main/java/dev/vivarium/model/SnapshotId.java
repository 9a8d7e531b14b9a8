package dev.vivarium.model;

import java.util.random.RandomGenerator;

/// Id of a snapshot: `snp` and twenty characters of `[a-z0-9]`. Immutable.
public record SnapshotId(String value) {
    private static final IdShape SHAPE = new IdShape("snapshot_id", "snp");

    public SnapshotId {
        SHAPE.require(value);
    }

    /// Returns a new unguessable id. Outside tests, `random` must be cryptographically secure.
    public static SnapshotId random(RandomGenerator random) {
        return new SnapshotId(SHAPE.random(random));
    }

    public static boolean isWellFormed(String text) {
        return SHAPE.fits(text);
    }

    @Override
    public String toString() {
        return value;
    }
}
