package dev.vivarium.server.api;

import dev.vivarium.core.VitalThread;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.sandbox.DiskSpace;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.core.store.Db;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.Gate;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import tools.jackson.core.JsonGenerator;

/// `GET /health`: how the server is, for load balancers and people. Open to all, so that it says nothing of anybody's
/// sessions but how many there are. Thread-safe.
public final class HealthHandler {
    private final Node node;
    private final Sandboxes sandboxes;
    private final Provider provider;
    private final Checks checks;
    private final InstantSource clock;
    private final Instant started;

    public HealthHandler(Node node, Sandboxes sandboxes, Provider provider, Checks checks, InstantSource clock) {
        this.node = node;
        this.sandboxes = sandboxes;
        this.provider = provider;
        this.checks = checks;
        this.clock = clock;
        this.started = clock.instant();
    }

    /// What this server is.
    public record Node(String workerId, String version, String image) {}

    /// What can be wrong.
    public record Checks(Db db, Gate gate, Supplier<Optional<String>> poolTrouble, DiskSpace disk) {
        /// Each part that fails, and why.
        Map<String, String> failing() {
            var failing = new TreeMap<String, String>();
            try {
                db.read(sql -> sql.first("select 1", row -> row.getInt(1)));
            } catch (SandboxException e) {
                failing.put("store", e.failure().sentence());
            }
            poolTrouble.get().ifPresent(why -> failing.put("provider", why));
            if (disk.reading().level() == DiskSpace.Level.FULL) {
                failing.put("disk", "the file system of the home is full; end sandboxes or delete files");
            }
            List<String> ended = VitalThread.ended();
            if (!ended.isEmpty()) {
                failing.put("threads", "have ended by a failure: " + String.join(", ", ended));
            }
            if (gate.isShut()) {
                failing.put("server", "is stopping");
            }
            return failing;
        }

        /// `degraded` below the low-water mark: sandboxes go on, but no new ones are created.
        String status(Map<String, String> failing) {
            boolean isLow = disk.reading().level() != DiskSpace.Level.OK;
            return failing.isEmpty() ? (isLow ? "degraded" : "healthy") : "unhealthy";
        }

        void writeDisk(JsonGenerator out) {
            var reading = disk.reading();
            out.writeObjectPropertyStart("disk");
            out.writeStringProperty("state", reading.level().label());
            out.writeNumberProperty("free_bytes", reading.freeBytes());
            out.writeNumberProperty("low_water_bytes", reading.lowWaterBytes());
            out.writeEndObject();
        }
    }

    public void handle(Exchange exchange) throws IOException {
        var failing = checks.failing();
        exchange.answer(failing.isEmpty() ? 200 : 503, out -> {
            out.writeStringProperty("status", checks.status(failing));
            if (!failing.isEmpty()) {
                out.writeObjectPropertyStart("failing");
                failing.forEach(out::writeStringProperty);
                out.writeEndObject();
            }
            write(out);
        });
    }

    private void write(JsonGenerator out) {
        var pool = sandboxes.pool();
        var capabilities = provider.capabilities();
        out.writeStringProperty("worker_id", node.workerId());
        out.writeStringProperty("version", node.version());
        out.writeNumberProperty("pool_size", pool.target());
        out.writeNumberProperty("pool_available", pool.available());
        out.writeNumberProperty("active_sessions", pool.active());
        out.writeNumberProperty("max_sessions", pool.capacity());
        out.writeNumberProperty(
                "uptime_seconds", Duration.between(started, clock.instant()).toSeconds());
        out.writeBooleanProperty("redis_connected", false);
        out.writeStringProperty("store", checks.db().name());
        out.writeStringProperty("bus", "memory");
        out.writeObjectPropertyStart("provider");
        out.writeStringProperty("name", provider.name());
        out.writeBooleanProperty("isolates", capabilities.isolates());
        out.writeStringProperty("isolation", capabilities.isolation());
        out.writeStringProperty("disk_limit", capabilities.diskLimit());
        out.writeStringProperty("snapshots", capabilities.snapshots());
        out.writeStringProperty("cgroups", capabilities.cgroups());
        out.writeEndObject();
        checks.writeDisk(out);
        out.writeStringProperty("image", node.image());
    }
}
