package dev.vivarium.json;

import dev.vivarium.model.SnapshotInfo;
import java.util.List;
import tools.jackson.core.JsonGenerator;

/// JSON form of snapshots. Stateless.
public final class SnapshotJson {
    private SnapshotJson() {}

    /// Writes the members of one.
    public static void write(JsonGenerator out, SnapshotInfo snapshot) {
        out.writeStringProperty("snapshot_id", snapshot.id().value());
        out.writeStringProperty("thread_id", snapshot.thread().value());
        out.writeStringProperty("sandbox_id", snapshot.sandbox().value());
        out.writeStringProperty("name", snapshot.name());
        out.writeNumberProperty("bytes", snapshot.bytes());
        Json.time(out, "created_at", snapshot.createdAt());
        snapshot.parent().ifPresent(parent -> out.writeStringProperty("parent_id", parent.value()));
    }

    /// Writes those of a thread, with what they take together and how many there may be.
    public static void write(JsonGenerator out, List<SnapshotInfo> snapshots, int limit) {
        out.writeArrayPropertyStart("snapshots");
        for (var snapshot : snapshots) {
            out.writeStartObject();
            write(out, snapshot);
            out.writeEndObject();
        }
        out.writeEndArray();
        out.writeNumberProperty(
                "total_bytes", snapshots.stream().mapToLong(SnapshotInfo::bytes).sum());
        out.writeNumberProperty("limit", limit);
    }
}
