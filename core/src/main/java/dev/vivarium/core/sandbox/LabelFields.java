package dev.vivarium.core.sandbox;

import dev.vivarium.core.StoreId;
import dev.vivarium.core.provider.Label;
import dev.vivarium.core.store.SandboxRow;
import dev.vivarium.model.Limits;
import dev.vivarium.model.OnIdle;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SnapshotId;
import dev.vivarium.model.SnapshotInfo;
import dev.vivarium.model.TextEnum;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/// Fields of the label of a sandbox or a snapshot, and their text form. Stateless.
final class LabelFields {
    private static final String USER = "user";
    private static final String THREAD = "thread";
    private static final String IMAGE = "image";
    private static final String MEMORY = "memory-bytes";
    private static final String CPUS = "cpus";
    private static final String PROCESSES = "processes";
    private static final String DISK = "disk-bytes";
    private static final String IDLE = "idle-timeout-ms";
    private static final String ON_IDLE = "on-idle";
    private static final String SANDBOX = "sandbox";
    private static final String NAME = "name";
    private static final String BYTES = "bytes";
    private static final String CREATED = "created-at";
    private static final String PARENT = "parent";

    private LabelFields() {}

    /// A sandbox as its label describes it.
    record Described(ThreadKey owner, String image, Limits limits, Duration idleTimeout, OnIdle onIdle) {}

    static Label of(StoreId store, SandboxRow row) {
        ThreadKey owner = row.owner().orElseThrow();
        Limits limits = row.limits();
        return new Label(
                store,
                Map.of(
                        USER, owner.user().value(),
                        THREAD, owner.thread().value(),
                        IMAGE, row.image(),
                        MEMORY, Long.toString(limits.memoryBytes()),
                        CPUS, Double.toString(limits.cpus()),
                        PROCESSES, Integer.toString(limits.processes()),
                        DISK, Long.toString(limits.diskBytes()),
                        IDLE, Long.toString(row.idleTimeout().toMillis()),
                        ON_IDLE, row.onIdle().text()));
    }

    /// Empty if the label does not describe a sandbox.
    static Optional<Described> sandbox(Label label) {
        Map<String, String> fields = label.fields();
        try {
            var owner = owner(fields);
            var limits = new Limits(
                    Long.parseLong(text(fields, MEMORY)),
                    Double.parseDouble(text(fields, CPUS)),
                    Integer.parseInt(text(fields, PROCESSES)),
                    Long.parseLong(text(fields, DISK)));
            var idle = Duration.ofMillis(Long.parseLong(text(fields, IDLE)));
            // A label of an earlier version does not have it.
            var onIdle = Optional.ofNullable(fields.get(ON_IDLE))
                    .flatMap(text -> TextEnum.find(OnIdle.class, text))
                    .orElse(OnIdle.END);
            return Optional.of(new Described(owner, text(fields, IMAGE), limits, idle, onIdle));
        } catch (IllegalArgumentException | SandboxException e) {
            return Optional.empty();
        }
    }

    static Label of(StoreId store, SnapshotInfo snapshot) {
        var fields = new HashMap<>(Map.of(
                USER, snapshot.key().user().value(),
                THREAD, snapshot.thread().value(),
                SANDBOX, snapshot.sandbox().value(),
                NAME, snapshot.name(),
                BYTES, Long.toString(snapshot.bytes()),
                DISK, Long.toString(snapshot.diskBytes()),
                CREATED, snapshot.createdAt().toString()));
        snapshot.parent().ifPresent(parent -> fields.put(PARENT, parent.value()));
        return new Label(store, fields);
    }

    /// Empty if the label does not describe a snapshot.
    static Optional<SnapshotInfo> snapshot(SnapshotId id, Label label) {
        Map<String, String> fields = label.fields();
        try {
            return Optional.of(new SnapshotInfo(
                    id,
                    owner(fields),
                    new SandboxId(text(fields, SANDBOX)),
                    text(fields, NAME),
                    Long.parseLong(text(fields, BYTES)),
                    Long.parseLong(text(fields, DISK)),
                    Instant.parse(text(fields, CREATED)),
                    Optional.ofNullable(fields.get(PARENT)).map(SnapshotId::new)));
        } catch (IllegalArgumentException | DateTimeException | SandboxException e) {
            return Optional.empty();
        }
    }

    private static ThreadKey owner(Map<String, String> fields) {
        return new ThreadKey(new UserId(text(fields, USER)), new ThreadId(text(fields, THREAD)));
    }

    private static String text(Map<String, String> fields, String name) {
        String text = fields.get(name);
        if (text == null) {
            throw new IllegalArgumentException("the label has no " + name);
        }
        return text;
    }
}
