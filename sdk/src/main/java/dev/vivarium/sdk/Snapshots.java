package dev.vivarium.sdk;

import dev.vivarium.json.SessionJson;
import dev.vivarium.json.SnapshotJson;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.SnapshotInfo;
import dev.vivarium.sdk.http.Transport;
import java.util.List;
import java.util.Optional;

/// Snapshots of the files of threads. Thread-safe.
public final class Snapshots {
    private final Transport transport;

    Snapshots(Transport transport) {
        this.transport = transport;
    }

    /// Saves the files of the thread's sandbox. The name may be empty.
    public SnapshotInfo take(String thread, String name) {
        return transport.post(path(thread), out -> out.writeStringProperty("name", name), SnapshotJson::read);
    }

    /// The snapshots of the thread, oldest first.
    public List<SnapshotInfo> list(String thread) {
        return transport.get(path(thread), SnapshotJson::readAll);
    }

    /// The newest snapshot of the thread with this name.
    public Optional<SnapshotInfo> find(String thread, String name) {
        return list(thread).reversed().stream()
                .filter(snapshot -> snapshot.name().equals(name))
                .findFirst();
    }

    /// The snapshot with this id; throws `NoSuchSnapshot` if there is none.
    public SnapshotInfo get(String id) {
        return transport.get("/snapshots/" + Transport.segment(id), SnapshotJson::read);
    }

    /// Replaces the files of the thread's sandbox and ends its processes. The sandbox keeps its id.
    public SandboxInfo restore(SnapshotInfo snapshot) {
        return transport.post(path(snapshot) + "/restore", _ -> {}, SessionJson::read);
    }

    /// Creates a sandbox with these files for another thread, which must not have one. Without a user, it belongs
    /// to the caller.
    public SandboxInfo fork(SnapshotInfo snapshot, String thread, Optional<String> user) {
        return transport.post(
                path(snapshot) + "/fork",
                out -> {
                    out.writeStringProperty("thread_id", thread);
                    user.ifPresent(owner -> out.writeStringProperty("user_id", owner));
                },
                SessionJson::read);
    }

    /// Deletes the snapshot. Sandboxes that were restored or forked from it keep their files.
    public void delete(SnapshotInfo snapshot) {
        transport.delete(path(snapshot));
    }

    private static String path(String thread) {
        return "/threads/" + Transport.segment(thread) + "/snapshots";
    }

    private static String path(SnapshotInfo snapshot) {
        return path(snapshot.thread().value()) + "/" + snapshot.id().value();
    }
}
