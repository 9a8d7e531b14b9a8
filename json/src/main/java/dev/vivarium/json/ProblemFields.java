package dev.vivarium.json;

import dev.vivarium.model.AccessFailure;
import dev.vivarium.model.CommandFailure;
import dev.vivarium.model.End;
import dev.vivarium.model.Failure;
import dev.vivarium.model.FileFailure;
import dev.vivarium.model.GitFailure;
import dev.vivarium.model.NotificationFailure;
import dev.vivarium.model.PortFailure;
import dev.vivarium.model.RequestFailure;
import dev.vivarium.model.RunFailure;
import dev.vivarium.model.SandboxFailure;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ServerFailure;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.time.Duration;
import java.util.List;
import tools.jackson.core.JsonGenerator;

/// Members that a problem has besides those of RFC 9457: the fields of the [Failure]. [ProblemReader] reads them.
/// Stateless.
final class ProblemFields {
    private static final int SHOWN_COMMAND = 200;
    static final JsonType<List<UserId>> OWNERS = JsonType.list(IdTypes.USER_ID);

    private static final double MIB = 1024.0 * 1024;

    private ProblemFields() {}

    static void write(JsonGenerator out, Failure failure) {
        switch (failure) {
            case SandboxFailure f -> write(out, f);
            case CommandFailure f -> write(out, f);
            case FileFailure f -> write(out, f);
            case RunFailure f -> write(out, f);
            case GitFailure f -> write(out, f);
            case AccessFailure.NoSuchKey f -> out.writeStringProperty("key_id", f.id());
            case AccessFailure _, Failure.Unrecognized _ -> {}
            case RequestFailure f -> write(out, f);
            case PortFailure f -> write(out, f);
            case ServerFailure f -> write(out, f);
            case NotificationFailure f -> write(out, f);
        }
    }

    private static void write(JsonGenerator out, SandboxFailure failure) {
        switch (failure) {
            case Failure.NoSandboxForThread f -> {
                thread(out, f.thread());
                f.end().ifPresent(end -> end(out, end));
            }
            case Failure.NoSuchSandbox f -> {
                out.writeStringProperty("session_id", f.id());
                f.end().ifPresent(end -> end(out, end));
            }
            case Failure.SandboxNotRunning f ->
                text(out, "session_id", f.id().value(), "state", f.status().text());
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
            case SandboxFailure.QuotaExceeded f -> {
                out.writeStringProperty("quota", f.quota());
                out.writeNumberProperty("limit", f.limit());
            }
            case Failure.GuestUnreachable f -> text(out, "session_id", f.id().value(), "why", f.why());
            case Failure.StartTimedOut f ->
                out.writeNumberProperty("limit_seconds", f.limit().toSeconds());
            case SandboxFailure.AmbiguousThread f -> owners(out, f);
            case SandboxFailure.NoSuchMember f ->
                out.writeStringProperty("user_id", f.user().value());
        }
    }

    private static void write(JsonGenerator out, CommandFailure failure) {
        switch (failure) {
            case Failure.PolicyRefused f -> {
                out.writeStringProperty("command", shortened(f.command()));
                out.writeStringProperty(
                        "forbidden_pattern", f.forbiddenPattern().orElse(null));
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

    private static void write(JsonGenerator out, GitFailure failure) {
        switch (failure) {
            case GitFailure.NoSuchCredential f -> out.writeStringProperty("credential", f.name());
            case GitFailure.NoRepository f -> out.writeStringProperty("run_id", f.run());
            case GitFailure.NotOnRemote f -> out.writeStringProperty("missing", f.what());
            case GitFailure.RemoteRefused f -> text(out, "host", f.host(), "why", f.reason());
            case GitFailure.RemoteFailed f -> text(out, "host", f.host(), "why", f.reason());
            case GitFailure.RemoteTimedOut f -> {
                out.writeStringProperty("host", f.host());
                out.writeNumberProperty("limit_seconds", f.seconds());
            }
            case GitFailure.GitCommandFailed f -> text(out, "step", f.step(), "why", f.output());
        }
    }

    private static void write(JsonGenerator out, FileFailure failure) {
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

    private static void write(JsonGenerator out, RunFailure failure) {
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
            case RunFailure.NoForensics f -> out.writeStringProperty("run_id", f.id());
            case RunFailure.UnknownRun f -> out.writeStringProperty("run_id", f.id());
            case RunFailure.NoSuchTask f -> out.writeStringProperty("task_id", f.id());
            case RunFailure.TaskOver f -> {
                sandbox(out, f.id());
                text(out, "task_id", f.task().value(), "state", f.state());
            }
            case RunFailure.TaskInState f -> {
                text(out, "task_id", f.id().value(), "state", f.status().text());
                out.writeStringProperty("rule", f.rule());
            }
            case RunFailure.AttemptOver f -> {
                out.writeStringProperty("task_id", f.id().value());
                out.writeNumberProperty("attempt", f.attempt());
            }
            case RunFailure.TaskDiskGone f -> text(out, "task_id", f.id().value(), "why", f.why());
            case RunFailure.NoSuchReview f -> out.writeStringProperty("review_id", f.id());
            case RunFailure.TooManyReviews f -> out.writeNumberProperty("limit", f.limit());
            case RunFailure.ReviewAnswered f ->
                text(out, "review_id", f.id().value(), "state", f.status().text());
            case RunFailure.RunInProgress _, RunFailure.NoTask _, RunFailure.NothingAsked _ -> {}
        }
    }

    private static void write(JsonGenerator out, RequestFailure failure) {
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
                    RequestFailure.IdempotencyKeyReused _,
                    RequestFailure.IdempotencyConflict _,
                    RequestFailure.BadHttp _,
                    RequestFailure.ClientGone _ -> {}
        }
    }

    private static void write(JsonGenerator out, NotificationFailure failure) {
        switch (failure) {
            case NotificationFailure.NoSuchWebhook f -> out.writeStringProperty("webhook_id", f.id());
            case NotificationFailure.NoSuchDelivery f -> out.writeStringProperty("delivery_id", f.id());
            case NotificationFailure.TooManyWebhooks f -> out.writeNumberProperty("limit", f.limit());
            case NotificationFailure.NoSuchAlert f -> out.writeStringProperty("alert_id", f.id());
        }
    }

    private static void write(JsonGenerator out, PortFailure failure) {
        switch (failure) {
            case Failure.ConnectionRefused f -> out.writeStringProperty("target", f.target());
            case Failure.BadAnswer f -> text(out, "target", f.target(), "why", f.why());
            case Failure.AnswerTimedOut f -> {
                out.writeStringProperty("target", f.target());
                out.writeNumberProperty("patience_seconds", f.timeout().toSeconds());
            }
        }
    }

    private static void write(JsonGenerator out, ServerFailure failure) {
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

    private static void owners(JsonGenerator out, SandboxFailure.AmbiguousThread failure) {
        thread(out, failure.thread());
        out.writeName("owners");
        OWNERS.write(out, failure.owners());
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

    private static String shortened(String command) {
        return command.length() <= SHOWN_COMMAND
                ? command
                : command.substring(0, command.offsetByCodePoints(0, command.codePointCount(0, SHOWN_COMMAND)));
    }

    private static void sandbox(JsonGenerator out, SandboxId id) {
        out.writeStringProperty("session_id", id.value());
    }

    private static void end(JsonGenerator out, End end) {
        out.writeName("end");
        SessionJson.END.write(out, end);
    }

    private static void thread(JsonGenerator out, ThreadId thread) {
        out.writeStringProperty("thread_id", thread.value());
    }

    private static void retryAfter(JsonGenerator out, Duration retryAfter) {
        out.writeNumberProperty("retry_after", retryAfter.toSeconds());
    }
}
