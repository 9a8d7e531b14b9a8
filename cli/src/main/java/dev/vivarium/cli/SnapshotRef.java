package dev.vivarium.cli;

import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SnapshotId;
import dev.vivarium.sdk.http.Transport;
import java.util.Optional;

/// How people say which snapshot they mean: by its id, or as `THREAD@NAME`, the newest of that name. Immutable.
sealed interface SnapshotRef {
    /// A snapshot, or nothing if the text can only be a thread's name.
    static Optional<SnapshotRef> find(String text) {
        int at = text.lastIndexOf('@');
        if (SnapshotId.isWellFormed(text)) {
            return Optional.of(new ById(text));
        }
        return at > 0 && at < text.length() - 1
                ? Optional.of(new ByName(text.substring(0, at), text.substring(at + 1)))
                : Optional.empty();
    }

    static SnapshotRef of(String text) {
        return find(text)
                .orElseThrow(() -> new SandboxException(new Failure.InvalidRequest(
                        "'" + text + "'", "must be the id of a snapshot, or THREAD@NAME; viv snapshot ls THREAD")));
    }

    /// The snapshot as the server shows it.
    JsonFields resolve(Transport http);

    /// As `viv snapshot` printed it.
    record ById(String id) implements SnapshotRef {
        @Override
        public JsonFields resolve(Transport http) {
            return http.get("/snapshots/" + id, fields -> fields);
        }
    }

    /// As the person who took it called it.
    record ByName(String thread, String name) implements SnapshotRef {
        @Override
        public JsonFields resolve(Transport http) {
            return http.get(all(thread), fields -> fields.objects("snapshots")).reversed().stream()
                    .filter(snapshot -> snapshot.string("name").equals(name))
                    .findFirst()
                    .orElseThrow(() -> new SandboxException(new Failure.NoSuchSnapshot(thread + "@" + name)));
        }
    }

    /// The snapshots of a thread.
    static String all(String thread) {
        return "/threads/" + Transport.segment(thread) + "/snapshots";
    }

    /// One snapshot, where it can be restored, forked and deleted.
    static String path(JsonFields snapshot) {
        return all(snapshot.string("thread_id")) + "/" + snapshot.string("snapshot_id");
    }
}
