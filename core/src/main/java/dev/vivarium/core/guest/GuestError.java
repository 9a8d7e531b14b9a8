package dev.vivarium.core.guest;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxId;

/// FAIL frame: the reason why the guest refused a request. Immutable.
///
/// [#about] is the only place that maps the codes of the guest to failures.
record GuestError(Code code, long actual, long limit, String message) {
    /// All codes, in the order of their numbers. The first stands for the unknown codes of a newer guest.
    enum Code {
        UNKNOWN,
        INVALID,
        NOT_FOUND,
        NOT_PERMITTED,
        EXISTS,
        NOT_A_FILE,
        NOT_A_DIRECTORY,
        ESCAPES,
        TOO_LARGE,
        TOO_MANY_FILES,
        WORKSPACE_FULL,
        NO_SPACE,
        PROCESS_LIMIT,
        OUT_OF_MEMORY,
        REFUSED,
        UNSUPPORTED,
        INPUT_OUTPUT,
        BUSY,
        NOT_EMPTY;

        private static final Code[] BY_NUMBER = values();

        static Code of(int number) {
            return number < BY_NUMBER.length ? BY_NUMBER[number] : UNKNOWN;
        }
    }

    static GuestError read(Fields fields) {
        Code code = Code.of(fields.u16());
        fields.u32(); // errno; the message contains its text
        return new GuestError(code, fields.u64(), fields.u64(), fields.displayText());
    }

    Failure about(RequestSubject subject, SandboxId id) {
        return switch (code) {
            case INVALID -> new Failure.InvalidRequest(subject.field(), message);
            case NOT_FOUND -> notFound(subject);
            case NOT_PERMITTED -> notPermitted(subject);
            case EXISTS -> exists(subject);
            case NOT_A_FILE -> wrongType(subject, "is not a regular file");
            case NOT_A_DIRECTORY -> wrongType(subject, "is not a directory, or a part of its path is not one");
            case NOT_EMPTY -> wrongType(subject, "is a directory that is not empty");
            case ESCAPES -> escapes(subject);
            case TOO_LARGE -> new Failure.FileTooLarge(limit, actual);
            case TOO_MANY_FILES -> new Failure.TooManyFiles(limit, Math.max(0, actual - 1));
            case WORKSPACE_FULL -> new Failure.WorkspaceFull(limit, actual, 0);
            case NO_SPACE -> new Failure.DiskFull(id);
            case PROCESS_LIMIT -> new Failure.ProcessLimitReached(id);
            case REFUSED -> refused(subject);
            case UNSUPPORTED -> new Failure.Unsupported(subject.step(), message);
            case BUSY -> new Failure.TooManyCommands(id, (int) Math.min(Integer.MAX_VALUE, limit));
            case OUT_OF_MEMORY -> new Failure.ProviderFailed(subject.step(), "the sandbox is out of memory");
            case INPUT_OUTPUT, UNKNOWN -> ours(subject);
        };
    }

    private Failure notFound(RequestSubject subject) {
        return switch (subject) {
            case RequestSubject.Program(String name) -> new Failure.CannotRun(name, orElse("it was not found"));
            case RequestSubject.File(String path, String _) -> new Failure.NoSuchFile(path);
            case RequestSubject.Port(String target) -> new Failure.ConnectionRefused(target);
            case RequestSubject.Machine _ -> ours(subject);
        };
    }

    private Failure notPermitted(RequestSubject subject) {
        return switch (subject) {
            case RequestSubject.Program(String name) -> new Failure.CannotRun(name, orElse("it may not be run"));
            case RequestSubject.File(String path, String _) -> new Failure.FileNotPermitted(path);
            case RequestSubject.Port(String target) -> new Failure.ConnectionRefused(target);
            case RequestSubject.Machine _ -> ours(subject);
        };
    }

    private Failure exists(RequestSubject subject) {
        return subject instanceof RequestSubject.File(String _, String target)
                ? new Failure.FileExists(target)
                : ours(subject);
    }

    private Failure wrongType(RequestSubject subject, String why) {
        return switch (subject) {
            case RequestSubject.Program(String name) -> new Failure.CannotRun(name, orElse(why));
            case RequestSubject.File(String path, String _) -> new Failure.WrongFileType(path, why);
            case RequestSubject.Port(String target) -> new Failure.ConnectionRefused(target);
            case RequestSubject.Machine _ -> ours(subject);
        };
    }

    private Failure escapes(RequestSubject subject) {
        return switch (subject) {
            case RequestSubject.Program(String name) ->
                new Failure.CannotRun(name, orElse("its directory is not inside the workspace"));
            case RequestSubject.File(String path, String _) -> new Failure.PathEscapes(path);
            case RequestSubject.Port _, RequestSubject.Machine _ -> ours(subject);
        };
    }

    private Failure refused(RequestSubject subject) {
        return subject instanceof RequestSubject.Port(String target)
                ? new Failure.ConnectionRefused(target)
                : ours(subject);
    }

    private Failure ours(RequestSubject subject) {
        return new Failure.ProviderFailed(subject.step(), orElse("the guest said " + code));
    }

    private String orElse(String why) {
        return message.isEmpty() ? why : message;
    }
}
