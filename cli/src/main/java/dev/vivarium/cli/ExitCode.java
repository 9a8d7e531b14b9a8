package dev.vivarium.cli;

import dev.vivarium.model.Failure;

/// What `viv` returns to the shell when something failed. The numbers are promised in `viv help`.
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

    /// `viv exec` itself failed; any other number of `exec` is the command's own.
    static final int EXEC_FAILED = 125;

    private ExitCode() {}

    static int of(Failure failure) {
        return switch (failure) {
            case Failure.InvalidRequest _, Failure.PathEscapes _, Failure.WrongFileType _, Failure.BodyTooLarge _ ->
                USAGE;
            case Failure.NoSandboxForThread _,
                    Failure.NoSuchSandbox _,
                    Failure.SandboxEnded _,
                    Failure.NoSuchFile _,
                    Failure.NoSuchProcess _,
                    Failure.NoSuchSnapshot _ -> NOT_FOUND;
            case Failure.NotAuthenticated _ -> NOT_SIGNED_IN;
            case Failure.NotAllowed _, Failure.PolicyRefused _, Failure.FileNotPermitted _ -> DENIED;
            case Failure.SandboxNotRunning _,
                    Failure.FileExists _,
                    Failure.PreconditionFailed _,
                    Failure.ProcessEnded _,
                    Failure.FileChanging _,
                    Failure.ThreadHasSandbox _ -> CONFLICT;
            case Failure.ServerUnreachable _ -> UNREACHABLE;
            case Failure.OfCapacity _,
                    Failure.TooManySnapshots _,
                    Failure.ProcessLimitReached _,
                    Failure.FileTooLarge _,
                    Failure.TooManyFiles _,
                    Failure.WorkspaceFull _,
                    Failure.DiskFull _,
                    Failure.NoDiskSpace _ -> NO_ROOM;
            case Failure.CannotRun _,
                    Failure.ConnectionRefused _,
                    Failure.BadAnswer _,
                    Failure.AnswerTimedOut _,
                    Failure.Unsupported _,
                    Failure.GuestUnreachable _,
                    Failure.ProviderFailed _,
                    Failure.StoreFailed _,
                    Failure.Internal _ -> FAILURE;
            case Failure.Unrecognized unknown -> ofStatus(unknown.status());
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
