package dev.vivarium.json;

import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SnapshotId;
import dev.vivarium.model.SnapshotInfo;
import dev.vivarium.model.ThreadId;
import java.util.List;
import tools.jackson.core.JsonGenerator;

/// JSON form of snapshots. Stateless.
public final class SnapshotJson {
    private SnapshotJson() {}

    /// Writes the members of one snapshot.
    public static void write(JsonGenerator out, SnapshotInfo snapshot) {
        out.writeStringProperty("snapshot_id", snapshot.id().value());
        out.writeStringProperty("thread_id", snapshot.thread().value());
        out.writeStringProperty("sandbox_id", snapshot.sandbox().value());
        out.writeStringProperty("name", snapshot.name());
        out.writeNumberProperty("bytes", snapshot.bytes());
        Json.time(out, "created_at", snapshot.createdAt());
        snapshot.parent().ifPresent(parent -> out.writeStringProperty("parent_id", parent.value()));
    }

    /// Reads one snapshot. The API does not tell the size of the disk, so `diskBytes` is 0.
    public static SnapshotInfo read(JsonFields fields) {
        return new SnapshotInfo(
                new SnapshotId(fields.string("snapshot_id")),
                new ThreadId(fields.string("thread_id")),
                new SandboxId(fields.string("sandbox_id")),
                fields.string("name"),
                fields.integer("bytes"),
                0,
                fields.time("created_at"),
                fields.optionalString("parent_id").map(SnapshotId::new));
    }

    /// Reads the snapshots of a thread.
    public static List<SnapshotInfo> readAll(JsonFields fields) {
        return fields.objects("snapshots").stream().map(SnapshotJson::read).toList();
    }

    /// Writes the snapshots of a thread, their total size and the limit of their number.
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
