package dev.vivarium.json;

import static dev.vivarium.json.JsonType.INT;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.ObjectType.field;

import dev.vivarium.model.AccessFailure;
import dev.vivarium.model.CommandFailure;
import dev.vivarium.model.End;
import dev.vivarium.model.Failure;
import dev.vivarium.model.FileFailure;
import dev.vivarium.model.PortFailure;
import dev.vivarium.model.RequestFailure;
import dev.vivarium.model.Review;
import dev.vivarium.model.ReviewId;
import dev.vivarium.model.RunFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxFailure;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ServerFailure;
import dev.vivarium.model.Status;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.time.Duration;
import tools.jackson.core.JsonGenerator;

/// Codec between a [Failure] and an RFC 9457 problem: the HTTP status, the members, and the same value again on the
/// client. The only place that assigns a status to a failure. Stateless.
///
/// To add a failure, extend the switches over its family, which do not compile without it, and [#read]. The round-trip
/// test fails until [#read] accepts its slug.
public final class ProblemJson {
    /// The media type of every error.
    public static final String CONTENT_TYPE = "application/problem+json";

    /// Description of a problem. The members of the failure follow the fields.
    public static final ObjectType<Failure> PROBLEM = ObjectType.<Failure>object(
                    "Problem",
                    field("error", STRING, "One sentence for people."),
                    field("type", STRING.with("pattern", "^urn:vivarium:problem:[a-z-]+$"), "The name of the failure."),
                    field("title", STRING),
                    field("status", INT.range(400, 599)),
                    field("detail", STRING))
            .with("description", """
                    A problem of RFC 9457. It also has the fields of the failure, such as `session_id`, `field` and \
                    `rule`, or `max_size_mb`.""");

    private static final String TYPE = "urn:vivarium:problem:";
    private static final String INVALID_SESSION = "Invalid or expired session";
    private static final int SHOWN_COMMAND = 200;
    private static final double MIB = 1024.0 * 1024;

    private ProblemJson() {}

    public static int status(Failure failure) {
        return switch (failure) {
            case SandboxFailure f -> status(f);
            case CommandFailure f -> status(f);
            case FileFailure f -> status(f);
            case RunFailure f -> status(f);
            case AccessFailure f -> status(f);
            case RequestFailure f -> status(f);
            case PortFailure f -> status(f);
            case ServerFailure f -> status(f);
            case Failure.Unrecognized f -> f.status();
        };
    }

    private static int status(SandboxFailure failure) {
        return switch (failure) {
            case Failure.NoSandboxForThread _,
                    Failure.NoSuchSandbox _,
                    Failure.NoSuchSnapshot _,
                    SandboxFailure.NoSuchMember _ -> 404;
            case Failure.SandboxNotRunning _, Failure.ThreadHasSandbox _, Failure.TooManySnapshots _ -> 409;
            case Failure.SandboxEnded _ -> 410;
            case Failure.GuestUnreachable _ -> 502;
            case Failure.AtCapacity _ -> 503;
            case Failure.DiskFull _, Failure.NoDiskSpace _ -> 507;
        };
    }

    private static int status(CommandFailure failure) {
        return switch (failure) {
            case Failure.PolicyRefused _, Failure.CannotRun _ -> 400;
            case Failure.NoSuchProcess _, CommandFailure.NoSuchShell _ -> 404;
            case Failure.ProcessLimitReached _, Failure.ProcessEnded _ -> 409;
            case Failure.TooManyCommands _ -> 429;
        };
    }

    private static int status(FileFailure failure) {
        return switch (failure) {
            case Failure.WrongFileType _, Failure.PathEscapes _ -> 400;
            case Failure.FileNotPermitted _ -> 403;
            case Failure.NoSuchFile _, FileFailure.VersionNotKept _ -> 404;
            case Failure.FileExists _, Failure.FileChanging _ -> 409;
            case Failure.PreconditionFailed _ -> 412;
            case Failure.FileTooLarge _, FileFailure.FileTooLargeToShow _ -> 413;
            case FileFailure.RangeNotSatisfiable _ -> 416;
            case Failure.TooManyFiles _, Failure.WorkspaceFull _ -> 507;
        };
    }

    private static int status(RunFailure failure) {
        return switch (failure) {
            case RunFailure.NoSuchRun _, RunFailure.NoSuchTask _, RunFailure.NoTask _, RunFailure.NoSuchReview _ -> 404;
            case RunFailure.NoRun _,
                    RunFailure.RunInProgress _,
                    RunFailure.NoTranscript _,
                    RunFailure.NoWorkerImage _,
                    RunFailure.TooManyMessages _,
                    RunFailure.TaskOver _,
                    RunFailure.TooManyReviews _,
                    RunFailure.ReviewAnswered _,
                    RunFailure.NothingAsked _ -> 409;
        };
    }

    private static int status(AccessFailure failure) {
        return switch (failure) {
            case Failure.NotAuthenticated _ -> 401;
            case Failure.NotAllowed _, AccessFailure.WrongOrigin _ -> 403;
            case AccessFailure.NoSuchKey _ -> 404;
            case AccessFailure.TooManyTokens _, AccessFailure.TooManyRevocations _ -> 429;
        };
    }

    private static int status(RequestFailure failure) {
        return switch (failure) {
            case Failure.InvalidRequest _ -> 400;
            case RequestFailure.NoSuchRoute _ -> 404;
            case RequestFailure.MethodNotAllowed _ -> 405;
            case RequestFailure.RequestTimeout _ -> 408;
            case Failure.BodyTooLarge _ -> 413;
            case RequestFailure.UnsupportedMediaType _ -> 415;
            case RequestFailure.UpgradeRequired _ -> 426;
            case RequestFailure.TooManyRequests _, RequestFailure.RateLimited _ -> 429;
            case RequestFailure.ClientGone _ -> 499;
            case Failure.Unsupported _ -> 501;
            case RequestFailure.BadHttp f -> f.status();
        };
    }

    private static int status(PortFailure failure) {
        return switch (failure) {
            case Failure.ConnectionRefused _, Failure.BadAnswer _ -> 502;
            case Failure.AnswerTimedOut _ -> 504;
        };
    }

    private static int status(ServerFailure failure) {
        return switch (failure) {
            case Failure.ProviderFailed _, Failure.Internal _ -> 500;
            case Failure.ServerUnreachable _ -> 502;
            case Failure.TooMuchInFlight _, Failure.ShuttingDown _, Failure.StoreFailed _ -> 503;
            case ServerFailure.InternalError f -> f.status();
        };
    }

    /// Writes the members of the problem: `error` for people, those of RFC 9457, and the fields of the failure.
    public static void write(JsonGenerator out, Failure failure) {
        write(out, failure, status(failure));
    }

    /// Writes the problem with a status that the route has chosen.
    public static void write(JsonGenerator out, Failure failure, int status) {
        out.writeStringProperty("error", error(failure));
        out.writeStringProperty("type", TYPE + failure.slug());
        out.writeStringProperty("title", title(failure.slug()));
        out.writeNumberProperty("status", status);
        out.writeStringProperty("detail", failure.sentence());
        writeFields(out, failure);
    }

    /// Reads the failure that a server wrote. A failure that this version does not know, or whose fields it does
    /// not know, becomes [Failure.Unrecognized] with the slug, status and detail.
    public static Failure read(JsonFields fields) {
        String type = fields.optionalString("type").orElse("");
        String slug = type.startsWith(TYPE) ? type.substring(TYPE.length()) : "unrecognized";
        try {
            return readOfServer(slug, fields);
        } catch (SandboxException _) {
            return unrecognized(slug, fields);
        }
    }

    private static Failure unrecognized(String slug, JsonFields fields) {
        return unrecognized(
                slug,
                fields.optionalInteger("status").map(Long::intValue).orElse(500),
                fields.optionalString("detail")
                        .or(() -> fields.optionalString("error"))
                        .orElse("the server did not say what went wrong"));
    }

    /// Failure of a client whose server sent something else than a problem: the error page of a proxy, or the close
    /// code of a WebSocket.
    public static Failure unrecognized(String slug, int status, String detail) {
        return new Failure.Unrecognized(slug, status, detail);
    }

    private static Failure readOfServer(String slug, JsonFields fields) {
        return switch (slug) {
            case "too-much-in-flight" -> new Failure.TooMuchInFlight(fields.integer("limit_bytes"), retryAfter(fields));
            case "shutting-down" -> new Failure.ShuttingDown();
            case "provider-failed" -> new Failure.ProviderFailed(fields.string("step"), fields.string("why"));
            case "store-failed" -> new Failure.StoreFailed(fields.string("why"));
            case "server-unreachable" -> new Failure.ServerUnreachable(fields.string("server"), fields.string("why"));
            case "internal" -> new Failure.Internal(fields.string("request_id"));
            case "internal-error" ->
                new ServerFailure.InternalError((int) fields.integer("status"), fields.string("detail"));
            case "connection-refused" -> new Failure.ConnectionRefused(fields.string("target"));
            case "bad-answer" -> new Failure.BadAnswer(fields.string("target"), fields.string("why"));
            case "answer-timed-out" ->
                new Failure.AnswerTimedOut(
                        fields.string("target"), Duration.ofSeconds(fields.integer("patience_seconds")));
            default -> readOfRequest(slug, fields);
        };
    }

    private static Failure readOfRequest(String slug, JsonFields fields) {
        return switch (slug) {
            case "invalid-request" -> new Failure.InvalidRequest(fields.string("field"), fields.string("rule"));
            case "body-too-large" -> new Failure.BodyTooLarge(fields.integer("max_bytes"));
            case "unsupported" -> new Failure.Unsupported(fields.string("feature"), fields.string("why"));
            case "no-such-route" -> new RequestFailure.NoSuchRoute(fields.string("detail"));
            case "method-not-allowed" -> new RequestFailure.MethodNotAllowed(fields.string("detail"));
            case "unsupported-media-type" -> new RequestFailure.UnsupportedMediaType(fields.string("detail"));
            case "upgrade-required" -> new RequestFailure.UpgradeRequired();
            case "request-timeout" ->
                new RequestFailure.RequestTimeout(Duration.ofSeconds(fields.integer("limit_seconds")));
            case "too-many-requests" -> new RequestFailure.TooManyRequests(fields.string("detail"));
            case "rate-limited" -> new RequestFailure.RateLimited(fields.string("detail"));
            case "bad-http" -> new RequestFailure.BadHttp((int) fields.integer("status"), fields.string("detail"));
            case "client-gone" -> new RequestFailure.ClientGone();
            case "not-authenticated" -> new Failure.NotAuthenticated(fields.string("detail"));
            case "not-allowed" -> new Failure.NotAllowed(fields.string("detail"));
            case "too-many-tokens" -> new AccessFailure.TooManyTokens();
            case "too-many-revocations" -> new AccessFailure.TooManyRevocations();
            case "no-such-key" -> new AccessFailure.NoSuchKey(fields.string("key_id"));
            case "wrong-origin" -> new AccessFailure.WrongOrigin();
            default -> readOfSandbox(slug, fields);
        };
    }

    private static Failure readOfSandbox(String slug, JsonFields fields) {
        return switch (slug) {
            case "no-sandbox-for-thread" -> new Failure.NoSandboxForThread(thread(fields));
            case "no-such-sandbox" ->
                new Failure.NoSuchSandbox(fields.string("session_id"), fields.optional("end", SessionJson.END));
            case "sandbox-not-running" ->
                new Failure.SandboxNotRunning(
                        sandbox(fields), fields.required("state", JsonType.constants(Status.class)));
            case "sandbox-ended" -> new Failure.SandboxEnded(sandbox(fields), fields.required("end", SessionJson.END));
            case "thread-has-sandbox" -> new Failure.ThreadHasSandbox(thread(fields));
            case "no-such-snapshot" -> new Failure.NoSuchSnapshot(fields.string("snapshot_id"));
            case "too-many-snapshots" -> new Failure.TooManySnapshots(thread(fields), (int) fields.integer("limit"));
            case "at-capacity" -> new Failure.AtCapacity((int) fields.integer("limit"), retryAfter(fields));
            case "no-disk-space" -> new Failure.NoDiskSpace(fields.string("detail"), retryAfter(fields));
            case "disk-full" -> new Failure.DiskFull(sandbox(fields));
            case "guest-unreachable" -> new Failure.GuestUnreachable(sandbox(fields), fields.string("why"));
            case "no-such-member" -> new SandboxFailure.NoSuchMember(new UserId(fields.string("user_id")));
            default -> readOfCommand(slug, fields);
        };
    }

    private static Failure readOfCommand(String slug, JsonFields fields) {
        return switch (slug) {
            case "policy-refused" ->
                new Failure.PolicyRefused(
                        fields.string("command"), fields.string("detail"), fields.optionalString("forbidden_pattern"));
            case "cannot-run" -> new Failure.CannotRun(fields.string("program"), fields.string("why"));
            case "process-limit-reached" -> new Failure.ProcessLimitReached(sandbox(fields));
            case "too-many-commands" -> new Failure.TooManyCommands(sandbox(fields), (int) fields.integer("limit"));
            case "no-such-process" -> new Failure.NoSuchProcess(fields.string("process_id"));
            case "process-ended" -> new Failure.ProcessEnded(fields.string("process_id"));
            case "no-such-shell" -> new CommandFailure.NoSuchShell(fields.string("detail"));
            default -> readOfRun(slug, fields);
        };
    }

    private static Failure readOfRun(String slug, JsonFields fields) {
        return switch (slug) {
            case "no-such-run" -> new RunFailure.NoSuchRun(sandbox(fields));
            case "no-run" ->
                new RunFailure.NoRun(
                        sandbox(fields), fields.optionalString("task_id").map(TaskId::new));
            case "run-in-progress" -> new RunFailure.RunInProgress(fields.string("detail"));
            case "no-transcript" -> new RunFailure.NoTranscript(sandbox(fields));
            case "no-worker-image" -> new RunFailure.NoWorkerImage(fields.string("image"), fields.string("detail"));
            case "too-many-messages" ->
                new RunFailure.TooManyMessages(sandbox(fields), (int) fields.integer("waiting"));
            case "no-such-task" -> new RunFailure.NoSuchTask(fields.string("task_id"));
            case "no-task" -> new RunFailure.NoTask();
            case "task-over" ->
                new RunFailure.TaskOver(sandbox(fields), new TaskId(fields.string("task_id")), fields.string("state"));
            case "no-such-review" -> new RunFailure.NoSuchReview(fields.string("review_id"));
            case "too-many-reviews" -> new RunFailure.TooManyReviews((int) fields.integer("limit"));
            case "review-answered" ->
                new RunFailure.ReviewAnswered(
                        new ReviewId(fields.string("review_id")),
                        fields.required("state", JsonType.constants(Review.Status.class)));
            case "nothing-asked" -> new RunFailure.NothingAsked(fields.string("detail"));
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
            case "file-too-large-to-show" ->
                new FileFailure.FileTooLargeToShow(
                        sandbox(fields),
                        fields.string("filename"),
                        fields.integer("actual_bytes"),
                        fields.integer("max_bytes"));
            case "version-not-kept" -> new FileFailure.VersionNotKept(fields.string("filename"), fields.integer("seq"));
            case "range-not-satisfiable" -> new FileFailure.RangeNotSatisfiable(fields.integer("actual_bytes"));
            case "too-many-files" ->
                new Failure.TooManyFiles(fields.integer("max_files"), fields.integer("current_files"));
            case "workspace-full" ->
                new Failure.WorkspaceFull(
                        fields.integer("max_bytes"), fields.integer("current_bytes"), fields.integer("file_bytes"));
            default -> unrecognized(slug, fields);
        };
    }

    private static void writeFields(JsonGenerator out, Failure failure) {
        switch (failure) {
            case SandboxFailure f -> writeFields(out, f);
            case CommandFailure f -> writeFields(out, f);
            case FileFailure f -> writeFields(out, f);
            case RunFailure f -> writeFields(out, f);
            case AccessFailure.NoSuchKey f -> out.writeStringProperty("key_id", f.id());
            case AccessFailure _, Failure.Unrecognized _ -> {}
            case RequestFailure f -> writeFields(out, f);
            case PortFailure f -> writeFields(out, f);
            case ServerFailure f -> writeFields(out, f);
        }
    }

    private static void writeFields(JsonGenerator out, SandboxFailure failure) {
        switch (failure) {
            case Failure.NoSandboxForThread f -> thread(out, f.thread());
            case Failure.NoSuchSandbox f -> {
                out.writeStringProperty("session_id", f.id());
                f.end().ifPresent(end -> end(out, end));
            }
            case Failure.SandboxNotRunning f ->
                text(out, "session_id", f.id().value(), "state", f.status().label());
            case Failure.SandboxEnded f -> {
                sandbox(out, f.id());
                end(out, f.end());
            }
            case Failure.ThreadHasSandbox f -> thread(out, f.thread());
            case Failure.NoSuchSnapshot f -> out.writeStringProperty("snapshot_id", f.id());
            case Failure.TooManySnapshots f -> {
                thread(out, f.thread());
                out.writeNumberProperty("limit", f.limit());
            }
            case Failure.AtCapacity f -> {
                out.writeNumberProperty("limit", f.limit());
                retryAfter(out, f.retryAfter());
            }
            case Failure.NoDiskSpace f -> retryAfter(out, f.retryAfter());
            case Failure.DiskFull f -> sandbox(out, f.id());
            case Failure.GuestUnreachable f -> text(out, "session_id", f.id().value(), "why", f.why());
            case SandboxFailure.NoSuchMember f ->
                out.writeStringProperty("user_id", f.user().value());
        }
    }

    private static void writeFields(JsonGenerator out, CommandFailure failure) {
        switch (failure) {
            case Failure.PolicyRefused f -> {
                out.writeStringProperty("command", shortened(f.command()));
                f.forbiddenPattern().ifPresent(pattern -> out.writeStringProperty("forbidden_pattern", pattern));
            }
            case Failure.CannotRun f -> text(out, "program", f.program(), "why", f.why());
            case Failure.ProcessLimitReached f -> sandbox(out, f.id());
            case Failure.TooManyCommands f -> {
                sandbox(out, f.id());
                out.writeNumberProperty("limit", f.limit());
            }
            case Failure.NoSuchProcess f -> out.writeStringProperty("process_id", f.id());
            case Failure.ProcessEnded f -> out.writeStringProperty("process_id", f.id());
            case CommandFailure.NoSuchShell _ -> {}
        }
    }

    private static void writeFields(JsonGenerator out, FileFailure failure) {
        switch (failure) {
            case Failure.NoSuchFile f -> file(out, f.path());
            case Failure.WrongFileType f -> text(out, "filename", f.path(), "why", f.why());
            case Failure.PathEscapes f -> file(out, f.path());
            case Failure.FileExists f -> file(out, f.path());
            case Failure.FileChanging f -> file(out, f.path());
            case Failure.PreconditionFailed f -> {
                out.writeStringProperty("filename", f.path());
                f.current().ifPresent(hash -> out.writeStringProperty("sha256", hash));
            }
            case Failure.FileNotPermitted f -> file(out, f.path());
            case Failure.FileTooLarge f -> tooLarge(out, f);
            case FileFailure.FileTooLargeToShow f -> {
                text(out, "session_id", f.id().value(), "filename", f.path());
                out.writeNumberProperty("max_bytes", f.limit());
                out.writeNumberProperty("actual_bytes", f.size());
            }
            case FileFailure.VersionNotKept f -> {
                out.writeStringProperty("filename", f.path());
                out.writeNumberProperty("seq", f.seq());
            }
            case FileFailure.RangeNotSatisfiable f -> out.writeNumberProperty("actual_bytes", f.size());
            case Failure.TooManyFiles f -> {
                out.writeNumberProperty("max_files", f.maxFiles());
                out.writeNumberProperty("current_files", f.currentFiles());
            }
            case Failure.WorkspaceFull f -> full(out, f);
        }
    }

    private static void writeFields(JsonGenerator out, RunFailure failure) {
        switch (failure) {
            case RunFailure.NoSuchRun f -> sandbox(out, f.id());
            case RunFailure.NoRun f -> {
                sandbox(out, f.id());
                f.task().ifPresent(task -> out.writeStringProperty("task_id", task.value()));
            }
            case RunFailure.NoTranscript f -> sandbox(out, f.id());
            case RunFailure.NoWorkerImage f -> out.writeStringProperty("image", f.image());
            case RunFailure.TooManyMessages f -> {
                sandbox(out, f.id());
                out.writeNumberProperty("waiting", f.waiting());
            }
            case RunFailure.NoSuchTask f -> out.writeStringProperty("task_id", f.id());
            case RunFailure.TaskOver f -> {
                sandbox(out, f.id());
                text(out, "task_id", f.task().value(), "state", f.state());
            }
            case RunFailure.NoSuchReview f -> out.writeStringProperty("review_id", f.id());
            case RunFailure.TooManyReviews f -> out.writeNumberProperty("limit", f.limit());
            case RunFailure.ReviewAnswered f ->
                text(out, "review_id", f.id().value(), "state", f.status().text());
            case RunFailure.RunInProgress _, RunFailure.NoTask _, RunFailure.NothingAsked _ -> {}
        }
    }

    private static void writeFields(JsonGenerator out, RequestFailure failure) {
        switch (failure) {
            case Failure.InvalidRequest f -> text(out, "field", f.field(), "rule", f.rule());
            case Failure.BodyTooLarge f -> out.writeNumberProperty("max_bytes", f.maxBytes());
            case Failure.Unsupported f -> text(out, "feature", f.feature(), "why", f.why());
            case RequestFailure.RequestTimeout f ->
                out.writeNumberProperty("limit_seconds", f.limit().toSeconds());
            case RequestFailure.NoSuchRoute _,
                    RequestFailure.MethodNotAllowed _,
                    RequestFailure.UnsupportedMediaType _,
                    RequestFailure.UpgradeRequired _,
                    RequestFailure.TooManyRequests _,
                    RequestFailure.RateLimited _,
                    RequestFailure.BadHttp _,
                    RequestFailure.ClientGone _ -> {}
        }
    }

    private static void writeFields(JsonGenerator out, PortFailure failure) {
        switch (failure) {
            case Failure.ConnectionRefused f -> out.writeStringProperty("target", f.target());
            case Failure.BadAnswer f -> text(out, "target", f.target(), "why", f.why());
            case Failure.AnswerTimedOut f -> {
                out.writeStringProperty("target", f.target());
                out.writeNumberProperty("patience_seconds", f.patience().toSeconds());
            }
        }
    }

    private static void writeFields(JsonGenerator out, ServerFailure failure) {
        switch (failure) {
            case Failure.TooMuchInFlight f -> {
                out.writeNumberProperty("limit_bytes", f.limitBytes());
                retryAfter(out, f.retryAfter());
            }
            case Failure.ProviderFailed f -> text(out, "step", f.step(), "why", f.why());
            case Failure.StoreFailed f -> out.writeStringProperty("why", f.why());
            case Failure.ServerUnreachable f -> text(out, "server", f.server(), "why", f.why());
            case Failure.Internal f -> out.writeStringProperty("request_id", f.requestId());
            case Failure.ShuttingDown _, ServerFailure.InternalError _ -> {}
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

    /// Rounds to two decimals.
    private static void megabytes(JsonGenerator out, String name, long bytes) {
        Json.number(out, name, Math.round(bytes / MIB * 100) / 100.0);
    }

    /// Returns a sentence that clients may compare. The session and its end are in `detail`.
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

    private static void sandbox(JsonGenerator out, SandboxId id) {
        out.writeStringProperty("session_id", id.value());
    }

    private static ThreadId thread(JsonFields fields) {
        return new ThreadId(fields.string("thread_id"));
    }

    private static void end(JsonGenerator out, End end) {
        out.writeName("end");
        SessionJson.END.write(out, end);
    }

    private static void thread(JsonGenerator out, ThreadId thread) {
        out.writeStringProperty("thread_id", thread.value());
    }

    private static Duration retryAfter(JsonFields fields) {
        return Duration.ofSeconds(fields.integer("retry_after"));
    }

    private static void retryAfter(JsonGenerator out, Duration retryAfter) {
        out.writeNumberProperty("retry_after", retryAfter.toSeconds());
    }
}
