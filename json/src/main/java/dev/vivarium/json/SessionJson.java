package dev.vivarium.json;

import static dev.vivarium.json.IdTypes.SESSION_ID;
import static dev.vivarium.json.IdTypes.THREAD_ID;
import static dev.vivarium.json.IdTypes.USER_ID;
import static dev.vivarium.json.JsonType.INT;
import static dev.vivarium.json.JsonType.LONG;
import static dev.vivarium.json.JsonType.MINUTES;
import static dev.vivarium.json.JsonType.NUMBER;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.TIME;
import static dev.vivarium.json.JsonType.constants;
import static dev.vivarium.json.ObjectType.constant;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;

import dev.vivarium.model.End;
import dev.vivarium.model.Limits;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.OnIdle;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.Status;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// JSON form of sandboxes in the session routes. Stateless.
///
/// A session is the sandbox: `session_id` is the id of the sandbox.
public final class SessionJson {
    /// Directory of the files of commands, as reported in responses.
    public static final String WORKSPACE = "/workspace";

    /// The Linux user that commands run as.
    public static final String LINUX_USER = "sandboxuser";

    /// Description of `state_reason`.
    public static final String STATE_REASON =
            "Why the server paused or hibernated the sandbox. Absent if a client paused it.";

    /// Description of `on_idle` in a response.
    public static final String ON_IDLE_TEXT = "What happens at `expires_at`.";

    public static final JsonType<OnIdle> ON_IDLE = constants(OnIdle.class, OnIdle::text, "must be end or hibernate");

    public static final JsonType<Status> STATE = constants(Status.class);

    /// The cause of `expires_at`.
    public static final JsonType<String> EXPIRES_BY = STRING.with(
                    "enum", List.of("idle", "lifetime", "hibernated", "ended"))
            .with(
                    "description",
                    "The cause of `expires_at`: the idle timeout, the lifetime, or the retention of a hibernated disk.");

    private static final double MIB = 1024.0 * 1024;
    private static final JsonType<Long> MEBIBYTES = NUMBER.as(size -> Math.round(size * MIB), bytes -> bytes / MIB);

    public static final ObjectType<Limits> LIMITS = object(
                    Limits::new,
                    field("memory_mb", MEBIBYTES, Limits::memoryBytes),
                    field("cpus", NUMBER, Limits::cpus),
                    field("processes", INT, Limits::processes),
                    field("disk_mb", MEBIBYTES, Limits::diskBytes))
            .named("Limits");

    /// Limits that a request asks for. The server chooses the disk size, because a warm sandbox has its disk before
    /// a request.
    public static final ObjectType<Limits> LOWER_LIMITS = ObjectType.<Limits>object(
                    "",
                    optional("memory_mb", MEBIBYTES.with("minimum", 16), limits -> Optional.of(limits.memoryBytes())),
                    optional("cpus", NUMBER.with("minimum", 0.05), limits -> Optional.of(limits.cpus())),
                    optional("processes", INT.with("minimum", 16), limits -> Optional.of(limits.processes())))
            .with("additionalProperties", false);

    public static final ObjectType<End> END = object(
                    "End",
                    End::new,
                    field("cause", constants(End.Cause.class), End::cause),
                    field("detail", STRING, End::detail),
                    field("at", TIME, End::at))
            .with("description", "Why and when a sandbox ended.");

    public static final ObjectType<Session> SESSION = object(
                    "Session",
                    field("session_id", SESSION_ID, session -> session.info().id()),
                    field("thread_id", THREAD_ID, session -> session.info().thread()),
                    field("status", constants(Found.class), "How this call found the session.", Session::found),
                    constant("workspace_dir", WORKSPACE),
                    constant("user", LINUX_USER),
                    field("created_at", TIME, session -> session.info().createdAt()),
                    field("last_activity", TIME, session -> session.info().lastActivity()),
                    field(
                            "expires_at",
                            TIME,
                            "When it ends or hibernates if it stays idle. If it is hibernated: when its disk is deleted.",
                            session -> session.info().expiresAt()),
                    field("expires_by", EXPIRES_BY, session -> expiresBy(session.info())),
                    field(
                            "ends_at",
                            TIME,
                            "When it ends in any case.",
                            session -> session.info().endsAt()),
                    field(
                            "user_id",
                            USER_ID,
                            "The owner.",
                            session -> session.info().user()),
                    field("state", STATE, session -> session.info().status()),
                    optional(
                            "state_reason",
                            STRING,
                            STATE_REASON,
                            session -> session.info().stateReason()),
                    field(
                            "on_idle",
                            ON_IDLE,
                            ON_IDLE_TEXT,
                            session -> session.info().onIdle()),
                    field("limits", LIMITS, session -> session.info().limits()),
                    optional("end", END, session -> session.info().end()),
                    optional(
                            "files_count",
                            LONG.with("minimum", 0),
                            "The number of files in the workspace, of a paused or hibernated sandbox when it stopped. Only from /get_session.",
                            Session::files))
            .readBy(SessionJson::read);

    /// The fields of a request that describe a new sandbox.
    public static final ObjectType<NewSandbox> CREATE = object(
                    "CreateSession",
                    optional(
                            "user_id",
                            USER_ID.length(1, 200),
                            "The owner. Default: the user of the key.",
                            request -> Optional.of(request.user())),
                    field("thread_id", THREAD_ID.length(1, 200), "The conversation.", NewSandbox::thread),
                    optional("timeout_minutes", MINUTES, "The idle timeout.", NewSandbox::idleTimeout),
                    optional(
                            "on_idle",
                            ON_IDLE,
                            "What happens after the idle timeout: the sandbox ends, or it keeps its disk and the next"
                                    + " call starts it again. Default: the setting on-idle.",
                            NewSandbox::onIdle),
                    optional(
                            "image",
                            STRING.with("pattern", "^[a-z0-9][a-z0-9._-]{0,63}$"),
                            "The root file system, one of `viv image list`. Only the default is kept warm.",
                            NewSandbox::image),
                    optional("env", ExecJson.ENVIRONMENT, request -> ExecJson.unlessEmpty(request.env())),
                    optional("limits", LOWER_LIMITS, "Lower limits than the server's.", NewSandbox::limits),
                    optional("egress", EgressJson.EGRESS, NewSandbox::egress))
            .with("additionalProperties", false);

    /// Value of `status` in a response.
    public enum Found {
        CREATED,
        EXISTING,
        ACTIVE,
        PAUSED,
        HIBERNATED;

        /// Value for a sandbox that a call found.
        public static Found of(Status status) {
            return switch (status) {
                case PAUSED -> PAUSED;
                case HIBERNATED -> HIBERNATED;
                case CREATING, RUNNING, TERMINATED, FAILED -> ACTIVE;
            };
        }
    }

    /// A sandbox as the session routes show it.
    ///
    /// @param files the number of files in the workspace, if the route counts them
    public record Session(SandboxInfo info, Found found, Optional<Long> files) {
        public Session(SandboxInfo info, Found found) {
            this(info, found, Optional.empty());
        }
    }

    private SessionJson() {}

    /// Reads the body of `POST /create_session`. `caller` is the default user, and `standard` has the default
    /// limits.
    public static NewSandbox readRequest(JsonFields fields, Optional<UserId> caller, Limits standard) {
        var user = fields.optional("user_id", USER_ID).or(() -> caller);
        var request = readRest(
                fields,
                NewSandbox.of(
                        user.orElseThrow(() -> SandboxException.invalid("user_id", "is required")),
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
                fields.optional("timeout_minutes", MINUTES),
                fields.optionalObject("limits").map(limits -> readLimits(limits, standard)),
                fields.optional("env", ExecJson.ENVIRONMENT).orElse(Map.of()),
                fields.optional("egress", EgressJson.EGRESS),
                fields.optionalString("image"),
                fields.optional("on_idle", ON_IDLE));
    }

    /// Returns the value of `expires_by`.
    public static String expiresBy(SandboxInfo sandbox) {
        if (sandbox.end().isPresent()) {
            return "ended";
        }
        if (sandbox.status() == Status.HIBERNATED) {
            return "hibernated";
        }
        return sandbox.expiresAt().isBefore(sandbox.endsAt()) ? "idle" : "lifetime";
    }

    /// Reads the sandbox of a response.
    public static SandboxInfo info(JsonFields fields) {
        return SESSION.read(fields).info();
    }

    private static Session read(JsonFields fields) {
        var info = new SandboxInfo(
                fields.required("session_id", SESSION_ID),
                fields.required("thread_id", THREAD_ID),
                fields.required("user_id", USER_ID),
                fields.required("state", STATE),
                fields.required("limits", LIMITS),
                fields.time("created_at"),
                fields.time("last_activity"),
                fields.time("expires_at"),
                fields.time("ends_at"),
                fields.optional("on_idle", ON_IDLE).orElse(OnIdle.END),
                fields.optional("end", END),
                fields.optionalString("state_reason"));
        return new Session(
                info, fields.required("status", constants(Found.class)), fields.optionalInteger("files_count"));
    }

    static Limits readLimits(JsonFields fields, Limits standard) {
        var limits = new Limits(
                fields.optional("memory_mb", MEBIBYTES).orElse(standard.memoryBytes()),
                fields.optional("cpus", NUMBER).orElse(standard.cpus()),
                fields.optional("processes", INT).orElse(standard.processes()),
                fields.optional("disk_mb", MEBIBYTES).orElse(standard.diskBytes()));
        fields.refuseOthers();
        return limits;
    }
}
