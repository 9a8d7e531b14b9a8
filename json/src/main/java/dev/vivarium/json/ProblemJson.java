package dev.vivarium.json;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.Status;
import dev.vivarium.model.ThreadId;
import java.time.Duration;
import tools.jackson.core.JsonGenerator;

/// A [Failure] as an RFC 9457 problem, and back: which failure is which status, which fields it carries, and the same
/// value again on the client's side. Stateless.
///
/// To add a failure: the two switches over the sealed type do not compile without it, and the round-trip test fails
/// until [#read] knows its slug.
public final class ProblemJson {
    /// The media type of every error.
    public static final String CONTENT_TYPE = "application/problem+json";

    private static final String TYPE = "urn:vivarium:problem:";
    private static final String INVALID_SESSION = "Invalid or expired session";
    private static final int SHOWN_COMMAND = 200;
    private static final double MIB = 1024.0 * 1024;

    private ProblemJson() {}

    public static int status(Failure failure) {
        return switch (failure) {
            case Failure.InvalidRequest _,
                    Failure.PolicyRefused _,
                    Failure.CannotRun _,
                    Failure.WrongFileType _,
                    Failure.PathEscapes _ -> 400;
            case Failure.NotAuthenticated _ -> 401;
            case Failure.NotAllowed _, Failure.FileNotPermitted _ -> 403;
            case Failure.NoSandboxForThread _,
                    Failure.NoSuchSandbox _,
                    Failure.NoSuchFile _,
                    Failure.NoSuchProcess _,
                    Failure.NoSuchSnapshot _ -> 404;
            case Failure.SandboxNotRunning _,
                    Failure.ProcessLimitReached _,
                    Failure.FileExists _,
                    Failure.FileChanging _,
                    Failure.ProcessEnded _,
                    Failure.ThreadHasSandbox _,
                    Failure.TooManySnapshots _ -> 409;
            case Failure.SandboxEnded _ -> 410;
            case Failure.PreconditionFailed _ -> 412;
            case Failure.FileTooLarge _, Failure.BodyTooLarge _ -> 413;
            case Failure.TooManyCommands _ -> 429;
            case Failure.ProviderFailed _, Failure.Internal _ -> 500;
            case Failure.Unsupported _ -> 501;
            case Failure.GuestUnreachable _,
                    Failure.ConnectionRefused _,
                    Failure.BadAnswer _,
                    Failure.ServerUnreachable _ -> 502;
            case Failure.AtCapacity _, Failure.TooMuchInFlight _, Failure.ShuttingDown _, Failure.StoreFailed _ -> 503;
            case Failure.AnswerTimedOut _ -> 504;
            case Failure.TooManyFiles _, Failure.WorkspaceFull _, Failure.DiskFull _, Failure.NoDiskSpace _ -> 507;
            case Failure.Unrecognized f -> f.status();
        };
    }

    /// Writes the problem's members: `error` for people, those of RFC 9457, and the failure's own fields.
    public static void write(JsonGenerator out, Failure failure) {
        write(out, failure, status(failure));
    }

    /// The same where the route has another status for it.
    public static void write(JsonGenerator out, Failure failure, int status) {
        out.writeStringProperty("error", error(failure));
        out.writeStringProperty("type", TYPE + failure.slug());
        out.writeStringProperty("title", title(failure.slug()));
        out.writeNumberProperty("status", status);
        out.writeStringProperty("detail", failure.sentence());
        writeFields(out, failure);
    }

    /// The failure that a server wrote; one that this version does not know keeps its name, status and
    /// sentence.
    public static Failure read(JsonFields fields) {
        String type = fields.optionalString("type").orElse("");
        String slug = type.startsWith(TYPE) ? type.substring(TYPE.length()) : "unrecognized";
        return switch (slug) {
            case "invalid-request" -> new Failure.InvalidRequest(fields.string("field"), fields.string("rule"));
            case "not-authenticated" -> new Failure.NotAuthenticated(fields.string("detail"));
            case "not-allowed" -> new Failure.NotAllowed(fields.string("detail"));
            case "policy-refused" ->
                new Failure.PolicyRefused(
                        fields.string("command"), fields.string("detail"), fields.optionalString("forbidden_pattern"));
            case "unsupported" -> new Failure.Unsupported(fields.string("feature"), fields.string("why"));
            case "at-capacity" ->
                new Failure.AtCapacity(
                        (int) fields.integer("limit"), Duration.ofSeconds(fields.integer("retry_after")));
            case "no-disk-space" ->
                new Failure.NoDiskSpace(fields.string("detail"), Duration.ofSeconds(fields.integer("retry_after")));
            case "too-much-in-flight" ->
                new Failure.TooMuchInFlight(
                        fields.integer("limit_bytes"), Duration.ofSeconds(fields.integer("retry_after")));
            case "shutting-down" -> new Failure.ShuttingDown();
            case "provider-failed" -> new Failure.ProviderFailed(fields.string("step"), fields.string("why"));
            case "store-failed" -> new Failure.StoreFailed(fields.string("why"));
            case "server-unreachable" -> new Failure.ServerUnreachable(fields.string("server"), fields.string("why"));
            case "internal" -> new Failure.Internal(fields.string("request_id"));
            case "body-too-large" -> new Failure.BodyTooLarge(fields.integer("max_bytes"));
            case "connection-refused" -> new Failure.ConnectionRefused(fields.string("target"));
            case "bad-answer" -> new Failure.BadAnswer(fields.string("target"), fields.string("why"));
            case "answer-timed-out" ->
                new Failure.AnswerTimedOut(
                        fields.string("target"), Duration.ofSeconds(fields.integer("patience_seconds")));
            case "no-sandbox-for-thread" -> new Failure.NoSandboxForThread(new ThreadId(fields.string("thread_id")));
            case "thread-has-sandbox" -> new Failure.ThreadHasSandbox(new ThreadId(fields.string("thread_id")));
            default -> readOfSandbox(slug, fields);
        };
    }

    private static Failure readOfSandbox(String slug, JsonFields fields) {
        return switch (slug) {
            case "no-such-sandbox" ->
                new Failure.NoSuchSandbox(
                        fields.string("session_id"),
                        fields.optionalObject("end").map(SessionJson::readEnd));
            case "sandbox-not-running" ->
                new Failure.SandboxNotRunning(sandbox(fields), SessionJson.constant(Status.class, fields, "state"));
            case "sandbox-ended" ->
                new Failure.SandboxEnded(sandbox(fields), SessionJson.readEnd(fields.object("end")));
            case "cannot-run" -> new Failure.CannotRun(fields.string("program"), fields.string("why"));
            case "process-limit-reached" -> new Failure.ProcessLimitReached(sandbox(fields));
            case "too-many-commands" -> new Failure.TooManyCommands(sandbox(fields), (int) fields.integer("limit"));
            case "guest-unreachable" -> new Failure.GuestUnreachable(sandbox(fields), fields.string("why"));
            case "no-such-process" -> new Failure.NoSuchProcess(fields.string("process_id"));
            case "process-ended" -> new Failure.ProcessEnded(fields.string("process_id"));
            case "disk-full" -> new Failure.DiskFull(sandbox(fields));
            case "no-such-snapshot" -> new Failure.NoSuchSnapshot(fields.string("snapshot_id"));
            case "too-many-snapshots" ->
                new Failure.TooManySnapshots(new ThreadId(fields.string("thread_id")), (int) fields.integer("limit"));
            default -> readOfFile(slug, fields);
        };
    }

    private static Failure readOfFile(String slug, JsonFields fields) {
        return switch (slug) {
            case "no-such-file" -> new Failure.NoSuchFile(fields.string("filename"));
            case "wrong-file-type" -> new Failure.WrongFileType(fields.string("filename"), fields.string("why"));
            case "path-escapes" -> new Failure.PathEscapes(fields.string("filename"));
            case "precondition-failed" ->
                new Failure.PreconditionFailed(fields.string("filename"), fields.optionalString("sha256"));
            case "file-changing" -> new Failure.FileChanging(fields.string("filename"));
            case "file-exists" -> new Failure.FileExists(fields.string("filename"));
            case "file-not-permitted" -> new Failure.FileNotPermitted(fields.string("filename"));
            case "file-too-large" ->
                new Failure.FileTooLarge(fields.integer("max_bytes"), fields.integer("actual_bytes"));
            case "too-many-files" ->
                new Failure.TooManyFiles(fields.integer("max_files"), fields.integer("current_files"));
            case "workspace-full" ->
                new Failure.WorkspaceFull(
                        fields.integer("max_bytes"), fields.integer("current_bytes"), fields.integer("file_bytes"));
            default ->
                new Failure.Unrecognized(
                        slug,
                        fields.optionalInteger("status").map(Long::intValue).orElse(500),
                        fields.optionalString("detail")
                                .or(() -> fields.optionalString("error"))
                                .orElse("the server did not say what went wrong"));
        };
    }

    private static void writeFields(JsonGenerator out, Failure failure) {
        switch (failure) {
            case Failure.InvalidRequest f -> text(out, "field", f.field(), "rule", f.rule());
            case Failure.NotAuthenticated _, Failure.NotAllowed _, Failure.ShuttingDown _, Failure.Unrecognized _ -> {}
            case Failure.NoSandboxForThread f ->
                out.writeStringProperty("thread_id", f.thread().value());
            case Failure.NoSuchSandbox f -> {
                out.writeStringProperty("session_id", f.id());
                f.end().ifPresent(end -> SessionJson.writeEnd(out, end));
            }
            case Failure.SandboxNotRunning f ->
                text(out, "session_id", f.id().value(), "state", f.status().label());
            case Failure.SandboxEnded f -> {
                out.writeStringProperty("session_id", f.id().value());
                SessionJson.writeEnd(out, f.end());
            }
            case Failure.PolicyRefused f -> {
                out.writeStringProperty("command", shortened(f.command()));
                f.forbiddenPattern().ifPresent(pattern -> out.writeStringProperty("forbidden_pattern", pattern));
            }
            case Failure.CannotRun f -> text(out, "program", f.program(), "why", f.why());
            case Failure.ProcessLimitReached f -> out.writeStringProperty("session_id", f.id().value());
            case Failure.BodyTooLarge f -> out.writeNumberProperty("max_bytes", f.maxBytes());
            case Failure.ConnectionRefused f -> out.writeStringProperty("target", f.target());
            case Failure.BadAnswer f -> text(out, "target", f.target(), "why", f.why());
            case Failure.AnswerTimedOut f -> {
                out.writeStringProperty("target", f.target());
                out.writeNumberProperty("patience_seconds", f.patience().toSeconds());
            }
            case Failure.Unsupported f -> text(out, "feature", f.feature(), "why", f.why());
            case Failure.AtCapacity f -> {
                out.writeNumberProperty("limit", f.limit());
                out.writeNumberProperty("retry_after", f.retryAfter().toSeconds());
            }
            case Failure.NoDiskSpace f ->
                out.writeNumberProperty("retry_after", f.retryAfter().toSeconds());
            case Failure.TooMuchInFlight f -> {
                out.writeNumberProperty("limit_bytes", f.limitBytes());
                out.writeNumberProperty("retry_after", f.retryAfter().toSeconds());
            }
            case Failure.TooManyCommands f -> {
                out.writeStringProperty("session_id", f.id().value());
                out.writeNumberProperty("limit", f.limit());
            }
            case Failure.GuestUnreachable f -> text(out, "session_id", f.id().value(), "why", f.why());
            case Failure.ProviderFailed f -> text(out, "step", f.step(), "why", f.why());
            case Failure.StoreFailed f -> out.writeStringProperty("why", f.why());
            case Failure.ServerUnreachable f -> text(out, "server", f.server(), "why", f.why());
            case Failure.Internal f -> out.writeStringProperty("request_id", f.requestId());
            case Failure.NoSuchProcess f -> out.writeStringProperty("process_id", f.id());
            case Failure.ProcessEnded f -> out.writeStringProperty("process_id", f.id());
            case Failure.NoSuchFile f -> file(out, f.path());
            case Failure.WrongFileType f -> text(out, "filename", f.path(), "why", f.why());
            case Failure.PathEscapes f -> file(out, f.path());
            case Failure.FileExists f -> file(out, f.path());
            case Failure.ThreadHasSandbox f ->
                out.writeStringProperty("thread_id", f.thread().value());
            case Failure.NoSuchSnapshot f -> out.writeStringProperty("snapshot_id", f.id());
            case Failure.TooManySnapshots f -> {
                out.writeStringProperty("thread_id", f.thread().value());
                out.writeNumberProperty("limit", f.limit());
            }
            case Failure.FileChanging f -> file(out, f.path());
            case Failure.PreconditionFailed f -> {
                out.writeStringProperty("filename", f.path());
                f.current().ifPresent(hash -> out.writeStringProperty("sha256", hash));
            }
            case Failure.FileNotPermitted f -> file(out, f.path());
            case Failure.DiskFull f -> out.writeStringProperty("session_id", f.id().value());
            case Failure.FileTooLarge f -> tooLarge(out, f);
            case Failure.TooManyFiles f -> {
                out.writeNumberProperty("max_files", f.maxFiles());
                out.writeNumberProperty("current_files", f.currentFiles());
            }
            case Failure.WorkspaceFull f -> full(out, f);
        }
    }

    private static void tooLarge(JsonGenerator out, Failure.FileTooLarge failure) {
        megabytes(out, "max_size_mb", failure.maxBytes());
        megabytes(out, "uploaded_size_mb", failure.actualBytes());
        out.writeNumberProperty("max_bytes", failure.maxBytes());
        out.writeNumberProperty("actual_bytes", failure.actualBytes());
    }

    private static void full(JsonGenerator out, Failure.WorkspaceFull failure) {
        megabytes(out, "max_workspace_mb", failure.maxBytes());
        megabytes(out, "current_workspace_mb", failure.currentBytes());
        megabytes(out, "file_size_mb", failure.fileBytes());
        out.writeNumberProperty("max_bytes", failure.maxBytes());
        out.writeNumberProperty("current_bytes", failure.currentBytes());
        out.writeNumberProperty("file_bytes", failure.fileBytes());
    }

    private static void file(JsonGenerator out, String path) {
        text(out, "filename", path, "workspace_dir", SessionJson.WORKSPACE);
    }

    private static void text(JsonGenerator out, String first, String value, String second, String other) {
        out.writeStringProperty(first, value);
        out.writeStringProperty(second, other);
    }

    /// Two decimals, as people read sizes.
    private static void megabytes(JsonGenerator out, String name, long bytes) {
        Json.number(out, name, Math.round(bytes / MIB * 100) / 100.0);
    }

    /// The sentence that clients may compare: which session it was and how it ended is told by `detail`.
    private static String error(Failure failure) {
        return failure instanceof Failure.NoSuchSandbox ? INVALID_SESSION : failure.sentence();
    }

    private static String title(String slug) {
        String words = slug.replace('-', ' ');
        return Character.toUpperCase(words.charAt(0)) + words.substring(1);
    }

    private static String shortened(String command) {
        return command.length() <= SHOWN_COMMAND
                ? command
                : command.substring(0, command.offsetByCodePoints(0, command.codePointCount(0, SHOWN_COMMAND)));
    }

    private static SandboxId sandbox(JsonFields fields) {
        return new SandboxId(fields.string("session_id"));
    }
}
