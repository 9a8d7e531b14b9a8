package dev.vivarium.model;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;

/// An expected failure: a small record with a stable slug, the fields needed to act, and an owner. Immutable.
///
/// Each record belongs to one family, which is a sealed interface named after its subject. The oldest records are
/// nested here, where their users import them; newer records are nested in their family.
///
/// Switches of this repository have no `default`, so that a new failure breaks the build where code must handle it.
/// Users should have a `default`: a new record is a minor release. Outcomes of a user's own command (exit codes,
/// timeouts, kills) are results, not failures. `ProblemJson` assigns the HTTP statuses.
public sealed interface Failure
        permits SandboxFailure,
                CommandFailure,
                FileFailure,
                RunFailure,
                GitFailure,
                AccessFailure,
                RequestFailure,
                PortFailure,
                ServerFailure,
                NotificationFailure,
                Failure.OfCapacity,
                Failure.OfPlatform,
                Failure.Unrecognized {
    /// Stable name that clients receive: the name of the record in kebab case.
    default String slug() {
        return getClass().getSimpleName().replaceAll("(?<=.)([A-Z])", "-$1").toLowerCase(Locale.ROOT);
    }

    /// Sentence for people: the subject, its state, and what to do.
    String sentence();

    /// Party that has to act.
    default Owner owner() {
        return Owner.CALLER;
    }

    /// Party that has to act on a failure.
    enum Owner {
        /// The request is invalid. The same request fails again.
        CALLER,
        /// A resource is exhausted. The same request may succeed later.
        CAPACITY,
        /// The server failed. An operator should look at its log.
        PLATFORM
    }

    /// Failures for lack of a resource that may become free.
    sealed interface OfCapacity extends Failure {
        @Override
        default Owner owner() {
            return Owner.CAPACITY;
        }
    }

    /// Failures of the server or of a part that it depends on.
    sealed interface OfPlatform extends Failure {
        @Override
        default Owner owner() {
            return Owner.PLATFORM;
        }
    }

    /// A field of the request is missing, unknown or invalid. `rule` is the violated rule.
    record InvalidRequest(String field, String rule) implements RequestFailure {
        /// Throws the failure unless the value of `field` obeys `rule`.
        public static void require(boolean holds, String field, String rule) {
            if (!holds) {
                throw SandboxException.invalid(field, rule);
            }
        }

        /// Throws the failure if `text` has more than `max` bytes in UTF-8.
        static void requireBytes(String text, String field, int max) {
            int bytes = text.getBytes(StandardCharsets.UTF_8).length;
            require(bytes <= max, field, "has " + bytes + " bytes; at most " + max + " are kept");
        }

        @Override
        public String sentence() {
            return field + " " + rule;
        }
    }

    /// The request has no key or token, or the server does not accept it.
    record NotAuthenticated(String sentence) implements AccessFailure {}

    /// The key or token does not permit the request.
    record NotAllowed(String sentence) implements AccessFailure {}

    /// The thread has no sandbox, or the caller has no right in the named thread. The server does not reveal which.
    /// `end` is the end of the last sandbox, if the caller has a right in the thread.
    record NoSandboxForThread(ThreadId thread, Optional<End> end) implements SandboxFailure {
        public NoSandboxForThread(ThreadId thread) {
            this(thread, Optional.empty());
        }

        @Override
        public String sentence() {
            return "No active session found for thread_id"
                    + end.map(e -> " (the last one ended " + e.at() + ", " + e.sentence() + ")")
                            .orElse("");
        }
    }

    /// The caller has no such sandbox. `end` is present if the caller owned it.
    record NoSuchSandbox(String id, Optional<End> end) implements SandboxFailure {
        @Override
        public String sentence() {
            return "Invalid or expired session '" + id + "'"
                    + end.map(e -> " (ended " + e.at() + ", " + e.sentence() + ")")
                            .orElse("");
        }
    }

    /// The sandbox is in a state that does not allow the call.
    record SandboxNotRunning(SandboxId id, Status status) implements SandboxFailure {
        @Override
        public String sentence() {
            return "sandbox " + id + " is " + status.text()
                    + (status == Status.PAUSED || status == Status.HIBERNATED
                            ? "; resume it first"
                            : "; wait or create a new one");
        }
    }

    /// The sandbox ended during the call.
    record SandboxEnded(SandboxId id, End end) implements SandboxFailure {
        @Override
        public String sentence() {
            return "sandbox " + id + " ended at " + end.at() + " (" + end.sentence()
                    + "); create a new one for the thread";
        }
    }

    /// The call needs a thread without a sandbox.
    record ThreadHasSandbox(ThreadId thread) implements SandboxFailure {
        @Override
        public String sentence() {
            return "thread " + thread + " has a sandbox; choose another thread, or end that one first";
        }
    }

    /// The snapshot does not exist, or another user owns it.
    record NoSuchSnapshot(String id) implements SandboxFailure {
        @Override
        public String sentence() {
            return "there is no snapshot '" + id + "'";
        }
    }

    /// The thread has the maximum number of snapshots.
    record TooManySnapshots(ThreadId thread, int limit) implements SandboxFailure {
        @Override
        public String sentence() {
            return "thread " + thread + " has " + limit + " snapshots, the maximum; delete one first";
        }
    }

    /// The command policy refused the command.
    record PolicyRefused(String command, String sentence, Optional<String> forbiddenPattern)
            implements CommandFailure {}

    /// The guest cannot start the program: the file is missing or not executable.
    record CannotRun(String program, String why) implements CommandFailure {
        @Override
        public String sentence() {
            return "cannot run " + program + ": " + why;
        }
    }

    /// The sandbox has the maximum number of processes.
    record ProcessLimitReached(SandboxId id) implements CommandFailure {
        @Override
        public String sentence() {
            return "sandbox " + id + " is at its process limit; end some of its processes or clean it up";
        }
    }

    /// The sandbox has no process with that id.
    record NoSuchProcess(String id) implements CommandFailure {
        @Override
        public String sentence() {
            return "there is no process '" + id + "'; list the processes of the sandbox";
        }
    }

    /// The process has exited, so the call cannot reach it.
    record ProcessEnded(String id) implements CommandFailure {
        @Override
        public String sentence() {
            return "process " + id + " has ended";
        }
    }

    /// The workspace has no such file.
    record NoSuchFile(String path) implements FileFailure {
        @Override
        public String sentence() {
            return "File not found in workspace";
        }
    }

    /// The path names a directory, a FIFO, a device or a name below a file, which the call cannot use.
    record WrongFileType(String path, String why) implements FileFailure {
        @Override
        public String sentence() {
            return "'" + path + "' " + why;
        }
    }

    /// The precondition of the request does not hold. The hash is that of the file, if the file exists.
    record PreconditionFailed(String path, Optional<String> current) implements FileFailure {
        @Override
        public String sentence() {
            return "'" + path + "' does not match the precondition of the request"
                    + current.map(hash -> "; its ETag is \"" + hash + "\"").orElse("")
                    + "; read it again before you change it";
        }
    }

    /// A process wrote to the file during each attempt to read it.
    record FileChanging(String path) implements FileFailure {
        @Override
        public String sentence() {
            return "'" + path + "' changed during each attempt to read it; retry when no process writes to it";
        }
    }

    /// The path is absolute, or leaves the workspace by `..` or a symbolic link.
    record PathEscapes(String path) implements FileFailure {
        @Override
        public String sentence() {
            return "'" + path
                    + "' is not a path inside the workspace; use a relative path without '..' or links that leave it";
        }
    }

    /// The target exists, and the request does not replace it.
    record FileExists(String path) implements FileFailure {
        @Override
        public String sentence() {
            return "'" + path + "' exists already";
        }
    }

    /// The user of the sandbox lacks the permission for the file.
    record FileNotPermitted(String path) implements FileFailure {
        @Override
        public String sentence() {
            return "the sandbox user may not do that to '" + path + "'; check its permissions";
        }
    }

    /// The file is larger than an upload may be. The actual size is the announced size, or the number of bytes
    /// received before the refusal.
    record FileTooLarge(long maxBytes, long actualBytes) implements FileFailure {
        @Override
        public String sentence() {
            return "File size exceeds maximum allowed size";
        }
    }

    /// The workspace has the maximum number of files.
    record TooManyFiles(long maxFiles, long currentFiles) implements FileFailure {
        @Override
        public String sentence() {
            return "Maximum file count exceeded";
        }
    }

    /// The upload would exceed the maximum size of the workspace.
    record WorkspaceFull(long maxBytes, long currentBytes, long fileBytes) implements FileFailure {
        @Override
        public String sentence() {
            return "Workspace size limit exceeded";
        }
    }

    /// The disk quota of the sandbox is used up.
    record DiskFull(SandboxId id) implements SandboxFailure {
        @Override
        public String sentence() {
            return "the disk of sandbox " + id + " is full; remove some files";
        }
    }

    /// The file system of the server has too little free space.
    record NoDiskSpace(String sentence, Duration retryAfter) implements SandboxFailure, OfCapacity {}

    /// The request body is larger than the route accepts.
    record BodyTooLarge(long maxBytes) implements RequestFailure {
        @Override
        public String sentence() {
            return "the request body is larger than " + maxBytes + " bytes";
        }
    }

    /// No program in the sandbox listens on the port.
    record ConnectionRefused(String target) implements PortFailure {
        @Override
        public String sentence() {
            return "nothing in the sandbox listens on " + target
                    + "; start the program, and have it listen on localhost or on every address";
        }
    }

    /// The program in the sandbox did not send a valid HTTP response.
    record BadAnswer(String target, String why) implements PortFailure {
        @Override
        public String sentence() {
            return "the program on " + target + " of the sandbox sent an invalid response: " + why;
        }
    }

    /// The program in the sandbox sent nothing within the time limit.
    record AnswerTimedOut(String target, Duration timeout) implements PortFailure {
        @Override
        public String sentence() {
            return "the program on " + target + " of the sandbox sent nothing for " + timeout.toSeconds() + " s";
        }
    }

    /// This server does not support the feature, for example because of its isolation provider.
    record Unsupported(String feature, String why) implements RequestFailure {
        @Override
        public String sentence() {
            return feature + " is not supported: " + why;
        }
    }

    /// The server runs the maximum number of sandboxes.
    record AtCapacity(int limit, Duration retryAfter) implements SandboxFailure, OfCapacity {
        @Override
        public String sentence() {
            return "Pool at max capacity: all " + limit + " sandboxes are in use; retry after " + retryAfter.toSeconds()
                    + " s";
        }
    }

    /// The buffers for requests in progress are full. The limit is the share of one caller.
    record TooMuchInFlight(long limitBytes, Duration retryAfter) implements ServerFailure, OfCapacity {
        @Override
        public String sentence() {
            return "the server holds too many bytes for unfinished requests, of which one caller may have " + limitBytes
                    + "; read or close the open ones, or retry after " + retryAfter.toSeconds() + " s";
        }
    }

    /// The sandbox runs the maximum number of commands.
    record TooManyCommands(SandboxId id, int limit) implements CommandFailure, OfCapacity {
        @Override
        public String sentence() {
            return "sandbox " + id + " runs " + limit + " commands already; wait for one to end";
        }
    }

    /// The server is shutting down.
    record ShuttingDown() implements ServerFailure, OfCapacity {
        @Override
        public String sentence() {
            return "the server is shutting down; retry after it has restarted";
        }
    }

    /// The guest does not respond or its connection is lost.
    record GuestUnreachable(SandboxId id, String why) implements SandboxFailure, OfPlatform {
        @Override
        public String sentence() {
            return "sandbox " + id + " does not answer: " + why;
        }
    }

    /// The machine of a new sandbox did not start in time. Nothing of it is left.
    record StartTimedOut(Duration limit) implements SandboxFailure, OfPlatform {
        @Override
        public String sentence() {
            return "the sandbox did not start within " + limit.toSeconds() + " s; retry";
        }
    }

    /// A step of the isolation provider failed. `why` is the message of the runtime.
    record ProviderFailed(String step, String why) implements ServerFailure, OfPlatform {
        @Override
        public String sentence() {
            return step + " failed: " + why;
        }
    }

    /// The database refused a query or did not respond.
    record StoreFailed(String why) implements ServerFailure, OfPlatform {
        @Override
        public String sentence() {
            return "the store did not answer: " + why;
        }
    }

    /// The client could not connect, lost the connection, or timed out. Only clients create it. Whether a command
    /// that the client sent has run is unknown.
    record ServerUnreachable(String server, String why) implements ServerFailure, OfPlatform {
        @Override
        public String sentence() {
            return "the server at " + server + " did not answer: " + why;
        }
    }

    /// An unexpected exception. The log has it under the request id.
    record Internal(String requestId) implements ServerFailure, OfPlatform {
        @Override
        public String sentence() {
            return "the server failed; its log has the reason under request " + requestId;
        }
    }

    /// A failure that a server sent and this client does not know. Only the classes `Problem…` of `json` create
    /// it.
    record Unrecognized(String name, int status, String detail) implements Failure {
        @Override
        public String slug() {
            return name;
        }

        @Override
        public String sentence() {
            return detail;
        }

        @Override
        public Owner owner() {
            return status >= 500 ? Owner.PLATFORM : Owner.CALLER;
        }
    }
}
