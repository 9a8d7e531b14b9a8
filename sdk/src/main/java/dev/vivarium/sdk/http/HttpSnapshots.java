package dev.vivarium.sdk.http;

import dev.vivarium.json.SessionJson;
import dev.vivarium.json.SnapshotJson;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.SnapshotInfo;
import dev.vivarium.sdk.engine.Snapshots;
import java.util.List;
import java.util.Optional;

/// Snapshots on a server. Thread-safe.
public final class HttpSnapshots implements Snapshots {
    private final Transport transport;

    public HttpSnapshots(Transport transport) {
        this.transport = transport;
    }

    @Override
    public SnapshotInfo take(String thread, String name) {
        return transport.post(path(thread), out -> out.writeStringProperty("name", name), SnapshotJson.SNAPSHOT::read);
    }

    @Override
    public List<SnapshotInfo> list(String thread) {
        return transport.get(path(thread), SnapshotJson::readAll);
    }

    @Override
    public SnapshotInfo get(String id) {
        return transport.get("/snapshots/" + Transport.segment(id), SnapshotJson.SNAPSHOT::read);
    }

    @Override
    public SandboxInfo restore(SnapshotInfo snapshot) {
        return at(snapshot).post(path(snapshot) + "/restore", _ -> {}, SessionJson::info);
    }

    @Override
    public SandboxInfo fork(SnapshotInfo snapshot, String thread, Optional<String> user) {
        return at(snapshot)
                .post(
                        path(snapshot) + "/fork",
                        out -> {
                            out.writeStringProperty("thread_id", thread);
                            user.ifPresent(owner -> out.writeStringProperty("user_id", owner));
                        },
                        SessionJson::info);
    }

    @Override
    public void delete(SnapshotInfo snapshot) {
        at(snapshot).delete(path(snapshot));
    }

    private Transport at(SnapshotInfo snapshot) {
        return transport.withOwner(snapshot.key().user());
    }

    private static String path(String thread) {
        return "/threads/" + Transport.segment(thread) + "/snapshots";
    }

    private static String path(SnapshotInfo snapshot) {
        return path(snapshot.thread().value()) + "/" + snapshot.id().value();
    }
}
