package dev.vivarium.cli;

import dev.vivarium.json.ProblemJson;
import dev.vivarium.model.Failure;

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

    /// Returns the code of the failure's HTTP status, unless the status does not tell enough.
    static int of(Failure failure) {
        return switch (failure) {
            case Failure.InvalidRequest _, Failure.BodyTooLarge _, Failure.PathEscapes _, Failure.WrongFileType _ ->
                USAGE;
            case Failure.PolicyRefused _ -> DENIED;
            case Failure.PreconditionFailed _ -> CONFLICT;
            case Failure.TooManySnapshots _, Failure.ProcessLimitReached _, Failure.FileTooLarge _ -> NO_ROOM;
            case Failure.ServerUnreachable _ -> UNREACHABLE;
            case Failure.StoreFailed _ -> FAILURE;
            case Failure other -> ofStatus(ProblemJson.status(other));
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
