package dev.vivarium.cli;

import dev.vivarium.model.AccessFailure;
import dev.vivarium.model.CommandFailure;
import dev.vivarium.model.Failure;
import dev.vivarium.model.FileFailure;
import dev.vivarium.model.PortFailure;
import dev.vivarium.model.RequestFailure;
import dev.vivarium.model.RunFailure;
import dev.vivarium.model.SandboxFailure;
import dev.vivarium.model.ServerFailure;

/// Exit codes of `viv`. `viv help` documents them. Stateless.
final class ExitCode {
    static final int FAILURE = 1;
    static final int USAGE = 2;
    static final int NOT_FOUND = 3;
    static final int NOT_SIGNED_IN = 4;
    static final int DENIED = 5;
    static final int CONFLICT = 6;
    static final int UNREACHABLE = 8;
    static final int NO_ROOM = 9;
    static final int INTERRUPTED = 130;

    /// `viv exec` itself failed. Every other exit code of `exec` is that of the command.
    static final int EXEC_FAILED = 125;

    private ExitCode() {}

    static int of(Failure failure) {
        return switch (failure) {
            case SandboxFailure f -> of(f);
            case CommandFailure f -> of(f);
            case FileFailure f -> of(f);
            case RunFailure f -> of(f);
            case AccessFailure f -> of(f);
            case RequestFailure f -> of(f);
            case PortFailure _ -> FAILURE;
            case ServerFailure f -> of(f);
            case Failure.Unrecognized f -> ofStatus(f.status());
        };
    }

    private static int of(SandboxFailure failure) {
        return switch (failure) {
            case Failure.NoSandboxForThread _,
                    Failure.NoSuchSandbox _,
                    Failure.SandboxEnded _,
                    Failure.NoSuchSnapshot _,
                    SandboxFailure.NoSuchMember _ -> NOT_FOUND;
            case Failure.SandboxNotRunning _, Failure.ThreadHasSandbox _ -> CONFLICT;
            case Failure.AtCapacity _, Failure.TooManySnapshots _, Failure.DiskFull _, Failure.NoDiskSpace _ -> NO_ROOM;
            case Failure.GuestUnreachable _ -> FAILURE;
        };
    }

    private static int of(CommandFailure failure) {
        return switch (failure) {
            case Failure.NoSuchProcess _, CommandFailure.NoSuchShell _ -> NOT_FOUND;
            case Failure.PolicyRefused _ -> DENIED;
            case Failure.ProcessEnded _ -> CONFLICT;
            case Failure.ProcessLimitReached _, Failure.TooManyCommands _ -> NO_ROOM;
            case Failure.CannotRun _ -> FAILURE;
        };
    }

    private static int of(FileFailure failure) {
        return switch (failure) {
            case Failure.PathEscapes _, Failure.WrongFileType _ -> USAGE;
            case Failure.NoSuchFile _, FileFailure.VersionNotKept _ -> NOT_FOUND;
            case Failure.FileNotPermitted _ -> DENIED;
            case Failure.FileExists _, Failure.PreconditionFailed _, Failure.FileChanging _ -> CONFLICT;
            case Failure.FileTooLarge _, Failure.TooManyFiles _, Failure.WorkspaceFull _ -> NO_ROOM;
            case FileFailure.FileTooLargeToShow _, FileFailure.RangeNotSatisfiable _ -> FAILURE;
        };
    }

    private static int of(RunFailure failure) {
        return switch (failure) {
            case RunFailure.NoSuchRun _, RunFailure.NoSuchTask _, RunFailure.NoTask _, RunFailure.NoSuchReview _ ->
                NOT_FOUND;
            case RunFailure.NoRun _,
                    RunFailure.RunInProgress _,
                    RunFailure.NoTranscript _,
                    RunFailure.NoWorkerImage _,
                    RunFailure.TooManyMessages _,
                    RunFailure.TaskOver _,
                    RunFailure.TooManyReviews _,
                    RunFailure.ReviewAnswered _,
                    RunFailure.NothingAsked _ -> CONFLICT;
        };
    }

    private static int of(AccessFailure failure) {
        return switch (failure) {
            case Failure.NotAuthenticated _ -> NOT_SIGNED_IN;
            case Failure.NotAllowed _, AccessFailure.WrongOrigin _ -> DENIED;
            case AccessFailure.NoSuchKey _ -> NOT_FOUND;
            case AccessFailure.TooManyTokens _, AccessFailure.TooManyRevocations _ -> NO_ROOM;
        };
    }

    private static int of(RequestFailure failure) {
        return switch (failure) {
            case Failure.InvalidRequest _, Failure.BodyTooLarge _ -> USAGE;
            case RequestFailure.NoSuchRoute _ -> NOT_FOUND;
            case RequestFailure.TooManyRequests _, RequestFailure.RateLimited _ -> NO_ROOM;
            case RequestFailure.BadHttp f -> ofStatus(f.status());
            case Failure.Unsupported _,
                    RequestFailure.MethodNotAllowed _,
                    RequestFailure.UnsupportedMediaType _,
                    RequestFailure.UpgradeRequired _,
                    RequestFailure.RequestTimeout _,
                    RequestFailure.ClientGone _ -> FAILURE;
        };
    }

    private static int of(ServerFailure failure) {
        return switch (failure) {
            case Failure.ServerUnreachable _ -> UNREACHABLE;
            case Failure.TooMuchInFlight _, Failure.ShuttingDown _ -> NO_ROOM;
            case ServerFailure.InternalError f -> ofStatus(f.status());
            case Failure.ProviderFailed _, Failure.StoreFailed _, Failure.Internal _ -> FAILURE;
        };
    }

    private static int ofStatus(int status) {
        return switch (status) {
            case 401 -> NOT_SIGNED_IN;
            case 403 -> DENIED;
            case 404, 410 -> NOT_FOUND;
            case 409 -> CONFLICT;
            case 429, 503, 507 -> NO_ROOM;
            default -> FAILURE;
        };
    }
}
