package dev.vivarium.json;

import static dev.vivarium.json.IdTypes.SESSION_ID;
import static dev.vivarium.json.IdTypes.SNAPSHOT_ID;
import static dev.vivarium.json.IdTypes.THREAD_ID;
import static dev.vivarium.json.IdTypes.USER_ID;
import static dev.vivarium.json.JsonType.LONG;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.TIME;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;

import dev.vivarium.model.SnapshotInfo;
import dev.vivarium.model.ThreadKey;
import java.util.List;

/// JSON form of snapshots. Stateless.
public final class SnapshotJson {
    /// The API does not contain the size of the disk: a client reads `diskBytes` as 0.
    public static final ObjectType<SnapshotInfo> SNAPSHOT = object(
                    "Snapshot",
                    field("snapshot_id", SNAPSHOT_ID.with("pattern", "^snp[a-z0-9]{20}$"), SnapshotInfo::id),
                    field("thread_id", THREAD_ID, SnapshotInfo::thread),
                    field(
                            "user_id",
                            USER_ID,
                            "The owner of the thread.",
                            snapshot -> snapshot.key().user()),
                    field("sandbox_id", SESSION_ID, SnapshotInfo::sandbox),
                    field("name", STRING, SnapshotInfo::name),
                    field(
                            "bytes",
                            LONG,
                            "The size of its files. Blocks that snapshots share count for each snapshot.",
                            SnapshotInfo::bytes),
                    field("created_at", TIME, SnapshotInfo::createdAt),
                    optional("parent_id", SNAPSHOT_ID, """
                            The snapshot that the disk was last saved as, restored from or forked from. If that \
                            snapshot is deleted, its parent.""", SnapshotInfo::parent))
            .readBy(SnapshotJson::read);

    private SnapshotJson() {}

    private static SnapshotInfo read(JsonFields fields) {
        return new SnapshotInfo(
                fields.required("snapshot_id", SNAPSHOT_ID),
                new ThreadKey(fields.required("user_id", USER_ID), fields.required("thread_id", THREAD_ID)),
                fields.required("sandbox_id", SESSION_ID),
                fields.string("name"),
                fields.integer("bytes"),
                0,
                fields.time("created_at"),
                fields.optional("parent_id", SNAPSHOT_ID));
    }

    /// Reads the snapshots of a thread.
    public static List<SnapshotInfo> readAll(JsonFields fields) {
        return fields.objects("snapshots").stream().map(SNAPSHOT::read).toList();
    }
}
