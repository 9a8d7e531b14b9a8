package dev.vivarium.json;

import dev.vivarium.model.AccessFailure;
import dev.vivarium.model.CommandFailure;
import dev.vivarium.model.Failure;
import dev.vivarium.model.FileFailure;
import dev.vivarium.model.GitFailure;
import dev.vivarium.model.NotificationFailure;
import dev.vivarium.model.RequestFailure;
import dev.vivarium.model.Review;
import dev.vivarium.model.ReviewId;
import dev.vivarium.model.RunFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxFailure;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ServerFailure;
import dev.vivarium.model.Status;
import dev.vivarium.model.Task;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.time.Duration;

/// Reader of the [Failure] that a server wrote, by its slug. Stateless.
final class ProblemReader {
    private ProblemReader() {}

    /// Returns [Failure.Unrecognized] for a slug that this version does not know, and if a field is missing or has
    /// another type.
    static Failure read(String slug, JsonFields fields) {
        try {
            return readOfServer(slug, fields);
        } catch (SandboxException _) {
            return unrecognized(slug, fields);
        }
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
            case "idempotency-key-reused" -> new RequestFailure.IdempotencyKeyReused(fields.string("detail"));
            case "idempotency-conflict" -> new RequestFailure.IdempotencyConflict(fields.string("detail"));
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
            case "no-sandbox-for-thread" ->
                new Failure.NoSandboxForThread(thread(fields), fields.optional("end", SessionJson.END));
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
            case "quota-exceeded" ->
                new SandboxFailure.QuotaExceeded(
                        fields.string("quota"), fields.integer("limit"), fields.string("detail"));
            case "guest-unreachable" -> new Failure.GuestUnreachable(sandbox(fields), fields.string("why"));
            case "start-timed-out" -> new Failure.StartTimedOut(Duration.ofSeconds(fields.integer("limit_seconds")));
            case "ambiguous-thread" ->
                new SandboxFailure.AmbiguousThread(thread(fields), fields.required("owners", ProblemFields.OWNERS));
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
            case "no-forensics" -> new RunFailure.NoForensics(fields.string("run_id"));
            case "unknown-run" -> new RunFailure.UnknownRun(fields.string("run_id"));
            case "no-such-task" -> new RunFailure.NoSuchTask(fields.string("task_id"));
            case "task-in-state" ->
                new RunFailure.TaskInState(
                        new TaskId(fields.string("task_id")),
                        fields.required("state", JsonType.constants(Task.Status.class)),
                        fields.string("rule"));
            case "attempt-over" ->
                new RunFailure.AttemptOver(new TaskId(fields.string("task_id")), (int) fields.integer("attempt"));
            case "task-disk-gone" ->
                new RunFailure.TaskDiskGone(new TaskId(fields.string("task_id")), fields.string("why"));
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
            default -> readOfGit(slug, fields);
        };
    }

    private static Failure readOfGit(String slug, JsonFields fields) {
        return switch (slug) {
            case "no-such-credential" -> new GitFailure.NoSuchCredential(fields.string("credential"));
            case "no-repository" -> new GitFailure.NoRepository(fields.string("run_id"));
            case "not-on-remote" -> new GitFailure.NotOnRemote(fields.string("missing"));
            case "remote-refused" -> new GitFailure.RemoteRefused(fields.string("host"), fields.string("why"));
            case "remote-failed" -> new GitFailure.RemoteFailed(fields.string("host"), fields.string("why"));
            case "remote-timed-out" ->
                new GitFailure.RemoteTimedOut(fields.string("host"), fields.integer("limit_seconds"));
            case "git-command-failed" -> new GitFailure.GitCommandFailed(fields.string("step"), fields.string("why"));
            default -> readOfNotification(slug, fields);
        };
    }

    private static Failure readOfNotification(String slug, JsonFields fields) {
        return switch (slug) {
            case "no-such-webhook" -> new NotificationFailure.NoSuchWebhook(fields.string("webhook_id"));
            case "no-such-delivery" -> new NotificationFailure.NoSuchDelivery(fields.string("delivery_id"));
            case "too-many-webhooks" -> new NotificationFailure.TooManyWebhooks((int) fields.integer("limit"));
            case "no-such-alert" -> new NotificationFailure.NoSuchAlert(fields.string("alert_id"));
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

    private static SandboxId sandbox(JsonFields fields) {
        return new SandboxId(fields.string("session_id"));
    }

    private static ThreadId thread(JsonFields fields) {
        return new ThreadId(fields.string("thread_id"));
    }

    private static Duration retryAfter(JsonFields fields) {
        return Duration.ofSeconds(fields.integer("retry_after"));
    }

    private static Failure unrecognized(String slug, JsonFields fields) {
        return new Failure.Unrecognized(
                slug,
                fields.optionalInteger("status").map(Long::intValue).orElse(500),
                fields.optionalString("detail")
                        .or(() -> fields.optionalString("error"))
                        .orElse("the server did not say what went wrong"));
    }
}
