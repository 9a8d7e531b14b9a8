package dev.vivarium.json;

import dev.vivarium.model.End;
import dev.vivarium.model.Limits;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.Status;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import tools.jackson.core.JsonGenerator;

/// JSON form of sandboxes in the session routes. Stateless.
///
/// A session is the sandbox: `session_id` is the id of the sandbox.
public final class SessionJson {
    /// Directory of the files of commands, as reported in responses.
    public static final String WORKSPACE = "/workspace";

    /// The Linux user that commands run as.
    public static final String LINUX_USER = "sandboxuser";

    private static final double MIB = 1024.0 * 1024;
    private static final int SECONDS_PER_MINUTE = 60;

    /// Value of `status` in a response.
    public enum Found {
        CREATED,
        EXISTING,
        ACTIVE;

        String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private SessionJson() {}

    /// Reads the body of `POST /create_session`. `caller` is the default user, and `standard` has the default
    /// limits.
    public static NewSandbox readRequest(JsonFields fields, Optional<UserId> caller, Limits standard) {
        var user = fields.optionalString("user_id").map(UserId::new).or(() -> caller);
        var request = readRest(
                fields,
                NewSandbox.of(
                        user.orElseThrow(() -> JsonFields.invalid("user_id", "is required")),
                        new ThreadId(fields.string("thread_id"))),
                standard);
        fields.refuseOthers();
        return request;
    }

    /// Reads the optional fields of a request for the sandbox in `plain`.
    public static NewSandbox readRest(JsonFields fields, NewSandbox plain, Limits standard) {
        return new NewSandbox(
                plain.user(),
                plain.thread(),
                minutes(fields, "timeout_minutes"),
                fields.optionalObject("limits").map(limits -> readLimits(limits, standard)),
                fields.optionalObject("env").map(JsonFields::strings).orElse(Map.of()),
                EgressJson.readOptional(fields),
                fields.optionalString("image"));
    }

    public static void writeRequest(JsonGenerator out, NewSandbox request) {
        out.writeStringProperty("user_id", request.user().value());
        out.writeStringProperty("thread_id", request.thread().value());
        request.image().ifPresent(image -> out.writeStringProperty("image", image));
        request.idleTimeout().ifPresent(idle -> Json.number(out, "timeout_minutes", inMinutes(idle)));
        request.limits().ifPresent(limits -> {
            out.writeObjectPropertyStart("limits");
            Json.number(out, "memory_mb", limits.memoryBytes() / MIB);
            Json.number(out, "cpus", limits.cpus());
            out.writeNumberProperty("processes", limits.processes());
            out.writeEndObject();
        });
        if (!request.env().isEmpty()) {
            out.writeObjectPropertyStart("env");
            request.env().forEach(out::writeStringProperty);
            out.writeEndObject();
        }
        request.egress().ifPresent(egress -> {
            out.writeObjectPropertyStart("egress");
            EgressJson.write(out, egress);
            out.writeEndObject();
        });
    }

    public static void write(JsonGenerator out, SandboxInfo info, Found found) {
        out.writeStringProperty("session_id", info.id().value());
        out.writeStringProperty("thread_id", info.thread().value());
        out.writeStringProperty("status", found.label());
        out.writeStringProperty("workspace_dir", WORKSPACE);
        out.writeStringProperty("user", LINUX_USER);
        Json.time(out, "created_at", info.createdAt());
        Json.time(out, "last_activity", info.lastActivity());
        Json.time(out, "expires_at", info.expiresAt());
        Json.time(out, "ends_at", info.endsAt());
        out.writeStringProperty("user_id", info.user().value());
        out.writeStringProperty("state", info.status().label());
        info.stateReason().ifPresent(why -> out.writeStringProperty("state_reason", why));
        writeLimits(out, info.limits());
        info.end().ifPresent(end -> writeEnd(out, end));
    }

    public static SandboxInfo read(JsonFields fields) {
        return new SandboxInfo(
                new SandboxId(fields.string("session_id")),
                new ThreadId(fields.string("thread_id")),
                new UserId(fields.string("user_id")),
                constant(Status.class, fields, "state"),
                readLimits(fields.object("limits"), Limits.STANDARD),
                fields.time("created_at"),
                fields.time("last_activity"),
                fields.time("expires_at"),
                fields.time("ends_at"),
                fields.optionalObject("end").map(SessionJson::readEnd),
                fields.optionalString("state_reason"));
    }

    static void writeEnd(JsonGenerator out, End end) {
        out.writeObjectPropertyStart("end");
        out.writeStringProperty("cause", end.cause().label());
        out.writeStringProperty("detail", end.detail());
        Json.time(out, "at", end.at());
        out.writeEndObject();
    }

    static End readEnd(JsonFields fields) {
        return new End(constant(End.Cause.class, fields, "cause"), fields.string("detail"), fields.time("at"));
    }

    /// Returns the constant whose lower-case name the field contains.
    static <E extends Enum<E>> E constant(Class<E> type, JsonFields fields, String name) {
        String label = fields.string(name);
        for (E constant : type.getEnumConstants()) {
            if (constant.name().toLowerCase(Locale.ROOT).equals(label)) {
                return constant;
            }
        }
        throw JsonFields.invalid(name, "is not one that this version knows");
    }

    public static void writeLimits(JsonGenerator out, Limits limits) {
        out.writeObjectPropertyStart("limits");
        Json.number(out, "memory_mb", limits.memoryBytes() / MIB);
        Json.number(out, "cpus", limits.cpus());
        out.writeNumberProperty("processes", limits.processes());
        Json.number(out, "disk_mb", limits.diskBytes() / MIB);
        out.writeEndObject();
    }

    /// Reads the limits. The server chooses the disk size, because a warm sandbox has its disk before a request.
    private static Limits readLimits(JsonFields fields, Limits standard) {
        var memory = fields.optionalNumber("memory_mb");
        var cpus = fields.optionalNumber("cpus");
        var processes = fields.optionalInteger("processes");
        var disk = fields.optionalNumber("disk_mb");
        var limits = new Limits(
                memory.isPresent() ? Math.round(memory.getAsDouble() * MIB) : standard.memoryBytes(),
                cpus.orElse(standard.cpus()),
                processes.map(SessionJson::capped).orElse(standard.processes()),
                disk.isPresent() ? Math.round(disk.getAsDouble() * MIB) : standard.diskBytes());
        fields.refuseOthers();
        return limits;
    }

    private static int capped(long value) {
        return Math.clamp(value, Integer.MIN_VALUE, Integer.MAX_VALUE);
    }

    private static Optional<Duration> minutes(JsonFields fields, String name) {
        var number = fields.optionalNumber(name);
        return number.isEmpty()
                ? Optional.empty()
                : Optional.of(Durations.ofSeconds(name, number.getAsDouble() * SECONDS_PER_MINUTE));
    }

    private static double inMinutes(Duration time) {
        return Durations.inSeconds(time) / SECONDS_PER_MINUTE;
    }
}
