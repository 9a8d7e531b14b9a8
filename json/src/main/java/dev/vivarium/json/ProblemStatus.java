package dev.vivarium.json;

import dev.vivarium.model.AccessFailure;
import dev.vivarium.model.CommandFailure;
import dev.vivarium.model.Failure;
import dev.vivarium.model.FileFailure;
import dev.vivarium.model.GitFailure;
import dev.vivarium.model.NotificationFailure;
import dev.vivarium.model.PortFailure;
import dev.vivarium.model.RequestFailure;
import dev.vivarium.model.RunFailure;
import dev.vivarium.model.SandboxFailure;
import dev.vivarium.model.ServerFailure;

/// HTTP status of each [Failure]. [ProblemJson#status] is its public form. Stateless.
final class ProblemStatus {
    private ProblemStatus() {}

    static int of(Failure failure) {
        return switch (failure) {
            case SandboxFailure f -> of(f);
            case CommandFailure f -> of(f);
            case FileFailure f -> of(f);
            case RunFailure f -> of(f);
            case GitFailure f -> of(f);
            case AccessFailure f -> of(f);
            case RequestFailure f -> of(f);
            case PortFailure f -> of(f);
            case NotificationFailure f -> of(f);
            case ServerFailure f -> of(f);
            case Failure.Unrecognized f -> f.status();
        };
    }

    private static int of(SandboxFailure failure) {
        return switch (failure) {
            case Failure.NoSandboxForThread _,
                    Failure.NoSuchSandbox _,
                    Failure.NoSuchSnapshot _,
                    SandboxFailure.NoSuchMember _ -> 404;
            case Failure.StartTimedOut _ -> 504;
            case Failure.SandboxNotRunning _,
                    Failure.ThreadHasSandbox _,
                    Failure.TooManySnapshots _,
                    SandboxFailure.AmbiguousThread _ -> 409;
            case Failure.SandboxEnded _ -> 410;
            case SandboxFailure.QuotaExceeded _ -> 429;
            case Failure.GuestUnreachable _ -> 502;
            case Failure.AtCapacity _ -> 503;
            case Failure.DiskFull _, Failure.NoDiskSpace _ -> 507;
        };
    }

    private static int of(CommandFailure failure) {
        return switch (failure) {
            case Failure.PolicyRefused _, Failure.CannotRun _ -> 400;
            case Failure.NoSuchProcess _, CommandFailure.NoSuchShell _ -> 404;
            case Failure.ProcessLimitReached _, Failure.ProcessEnded _ -> 409;
            case Failure.TooManyCommands _ -> 429;
        };
    }

    private static int of(FileFailure failure) {
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

    private static int of(RunFailure failure) {
        return switch (failure) {
            case RunFailure.NoSuchRun _,
                    RunFailure.UnknownRun _,
                    RunFailure.NoForensics _,
                    RunFailure.NoSuchTask _,
                    RunFailure.NoTask _,
                    RunFailure.NoSuchReview _ -> 404;
            case RunFailure.NoRun _,
                    RunFailure.RunInProgress _,
                    RunFailure.NoTranscript _,
                    RunFailure.NoWorkerImage _,
                    RunFailure.TooManyMessages _,
                    RunFailure.TaskOver _,
                    RunFailure.TaskInState _,
                    RunFailure.AttemptOver _,
                    RunFailure.TaskDiskGone _,
                    RunFailure.TooManyReviews _,
                    RunFailure.ReviewAnswered _,
                    RunFailure.NothingAsked _ -> 409;
        };
    }

    private static int of(GitFailure failure) {
        return switch (failure) {
            case GitFailure.NoSuchCredential _, GitFailure.NoRepository _, GitFailure.NotOnRemote _ -> 404;
            case GitFailure.RemoteRefused _, GitFailure.GitCommandFailed _ -> 409;
            case GitFailure.RemoteFailed _ -> 502;
            case GitFailure.RemoteTimedOut _ -> 504;
        };
    }

    private static int of(NotificationFailure failure) {
        return switch (failure) {
            case NotificationFailure.NoSuchWebhook _,
                    NotificationFailure.NoSuchDelivery _,
                    NotificationFailure.NoSuchAlert _ -> 404;
            case NotificationFailure.TooManyWebhooks _ -> 409;
        };
    }

    private static int of(AccessFailure failure) {
        return switch (failure) {
            case Failure.NotAuthenticated _ -> 401;
            case Failure.NotAllowed _, AccessFailure.WrongOrigin _ -> 403;
            case AccessFailure.NoSuchKey _ -> 404;
            case AccessFailure.TooManyTokens _, AccessFailure.TooManyRevocations _ -> 429;
        };
    }

    private static int of(RequestFailure failure) {
        return switch (failure) {
            case Failure.InvalidRequest _ -> 400;
            case RequestFailure.NoSuchRoute _ -> 404;
            case RequestFailure.MethodNotAllowed _ -> 405;
            case RequestFailure.RequestTimeout _ -> 408;
            case Failure.BodyTooLarge _ -> 413;
            case RequestFailure.UnsupportedMediaType _ -> 415;
            case RequestFailure.UpgradeRequired _ -> 426;
            case RequestFailure.TooManyRequests _, RequestFailure.RateLimited _ -> 429;
            case RequestFailure.IdempotencyKeyReused _ -> 422;
            case RequestFailure.IdempotencyConflict _ -> 409;
            case RequestFailure.ClientGone _ -> 499;
            case Failure.Unsupported _ -> 501;
            case RequestFailure.BadHttp f -> f.status();
        };
    }

    private static int of(PortFailure failure) {
        return switch (failure) {
            case Failure.ConnectionRefused _, Failure.BadAnswer _ -> 502;
            case Failure.AnswerTimedOut _ -> 504;
        };
    }

    private static int of(ServerFailure failure) {
        return switch (failure) {
            case Failure.ProviderFailed _, Failure.Internal _ -> 500;
            case Failure.ServerUnreachable _ -> 502;
            case Failure.TooMuchInFlight _, Failure.ShuttingDown _, Failure.StoreFailed _ -> 503;
            case ServerFailure.InternalError f -> f.status();
        };
    }
}
