package dev.vivarium.model;

import java.time.Duration;
import java.util.Locale;
import java.util.Optional;

/// Everything that can go wrong on purpose: a closed set of small records, each with a stable slug, the fields needed
/// to act, and an owner.
///
/// Our own switches over it have no `default`, so that a new failure breaks the build where it must be handled. Users
/// should have one: a new record is a minor release. Outcomes of the user's own command (exit codes, time-outs, kills)
/// are results, never failures.
public sealed interface Failure {
    /// The stable name that is sent to clients: the record's own name in kebab case.
    default String slug() {
        return getClass().getSimpleName().replaceAll("(?<=.)([A-Z])", "-$1").toLowerCase(Locale.ROOT);
    }

    /// One sentence for people that names the thing, its state and the way out.
    String sentence();

    /// Who has to act.
    default Owner owner() {
        boolean isForWantOfRoom = this instanceof AtCapacity
                || this instanceof NoDiskSpace
                || this instanceof TooManyCommands
                || this instanceof ShuttingDown;
        return isForWantOfRoom ? Owner.CAPACITY : Owner.CALLER;
    }

    /// Who has to act on a failure.
    enum Owner {
        /// The request is wrong; the same request will fail again.
        CALLER,
        /// There is no room now; the same request may succeed later.
        CAPACITY,
        /// We failed; an operator should look.
        PLATFORM
    }

    /// The server has no room for it now, and may have later.
    sealed interface OfCapacity extends Failure {
        @Override
        default Owner owner() {
            return Owner.CAPACITY;
        }
    }

    /// The server, or what it depends on, has failed.
    sealed interface OfPlatform extends Failure {
        @Override
        default Owner owner() {
            return Owner.PLATFORM;
        }
    }

    record InvalidRequest(String field, String rule) implements Failure {
        @Override
        public String sentence() {
            return field + " " + rule;
        }
    }

    record NotAuthenticated(String why) implements Failure {
        @Override
        public String sentence() {
            return why;
        }
    }

    record NotAllowed(String why) implements Failure {
        @Override
        public String sentence() {
            return why;
        }
    }

    /// The thread has no sandbox, or it is somebody else's: the two are told apart by nobody.
    record NoSandboxForThread(ThreadId thread) implements Failure {
        @Override
        public String sentence() {
            return "No active session found for thread_id";
        }
    }

    /// There is no such sandbox for this caller. `end` says how it ended, if it was theirs.
    record NoSuchSandbox(String id, Optional<End> end) implements Failure {
        @Override
        public String sentence() {
            return "Invalid or expired session '" + id + "'"
                    + end.map(e -> " (ended " + e.at() + ", " + e.sentence() + ")")
                            .orElse("");
        }
    }

    /// The sandbox is there but in a state that does not allow the call.
    record SandboxNotRunning(SandboxId id, Status status) implements Failure {
        @Override
        public String sentence() {
            return "sandbox " + id + " is " + status.label()
                    + (status == Status.PAUSED ? "; resume it first" : "; wait or create a new one");
        }
    }

    /// The sandbox ended while it was being used.
    record SandboxEnded(SandboxId id, End end) implements Failure {
        @Override
        public String sentence() {
            return "sandbox " + id + " ended at " + end.at() + " (" + end.sentence()
                    + "); create a new one for the thread";
        }
    }

    /// The thread has a sandbox, where one without was wanted.
    record ThreadHasSandbox(ThreadId thread) implements Failure {
        @Override
        public String sentence() {
            return "thread " + thread + " has a sandbox; choose another thread, or end that one first";
        }
    }

    /// The thread has no such snapshot, or it is somebody else's.
    record NoSuchSnapshot(String id) implements Failure {
        @Override
        public String sentence() {
            return "there is no snapshot '" + id + "'";
        }
    }

    record TooManySnapshots(ThreadId thread, int limit) implements Failure {
        @Override
        public String sentence() {
            return "thread " + thread + " has " + limit + " snapshots, which is the most; delete some";
        }
    }

    record PolicyRefused(String command, String why, Optional<String> forbiddenPattern) implements Failure {
        @Override
        public String sentence() {
            return why;
        }
    }

    /// The program could not be started: it is not there, or it is not a program.
    record CannotRun(String program, String why) implements Failure {
        @Override
        public String sentence() {
            return "cannot run " + program + ": " + why;
        }
    }

    record ProcessLimitReached(SandboxId id) implements Failure {
        @Override
        public String sentence() {
            return "sandbox " + id + " is at its process limit; end some of its processes or clean it up";
        }
    }

    record NoSuchProcess(String id) implements Failure {
        @Override
        public String sentence() {
            return "there is no process '" + id + "'; list those that are known";
        }
    }

    /// The process has ended, so that nothing can be sent to it.
    record ProcessEnded(String id) implements Failure {
        @Override
        public String sentence() {
            return "process " + id + " has ended";
        }
    }

    record NoSuchFile(String path) implements Failure {
        @Override
        public String sentence() {
            return "File not found in workspace";
        }
    }

    /// The path names something that cannot be used this way: a directory, a FIFO, a device, a name below a
    /// file.
    record WrongFileType(String path, String why) implements Failure {
        @Override
        public String sentence() {
            return "'" + path + "' " + why;
        }
    }

    /// The file is not as the caller said it must be. `current` is the hash of what is there, if a file is.
    record PreconditionFailed(String path, Optional<String> current) implements Failure {
        @Override
        public String sentence() {
            return "'" + path + "' is not as the request says it must be"
                    + current.map(hash -> "; its ETag is \"" + hash + "\"").orElse("")
                    + "; read it again before you change it";
        }
    }

    /// The file is written to while it is being read, again and again.
    record FileChanging(String path) implements Failure {
        @Override
        public String sentence() {
            return "'" + path + "' is being written to; try again when it holds still";
        }
    }

    /// The path is absolute, or leaves the workspace by `..` or a symbolic link.
    record PathEscapes(String path) implements Failure {
        @Override
        public String sentence() {
            return "'" + path
                    + "' is not a path inside the workspace; use a relative path without '..' or links that leave it";
        }
    }

    record FileExists(String path) implements Failure {
        @Override
        public String sentence() {
            return "'" + path + "' exists already";
        }
    }

    /// The sandbox's own user may not do this to the file.
    record FileNotPermitted(String path) implements Failure {
        @Override
        public String sentence() {
            return "the sandbox user may not do that to '" + path + "'; check its permissions";
        }
    }

    /// `actualBytes` is what had arrived, or was announced, when it was refused.
    record FileTooLarge(long maxBytes, long actualBytes) implements Failure {
        @Override
        public String sentence() {
            return "File size exceeds maximum allowed size";
        }
    }

    record TooManyFiles(long maxFiles, long currentFiles) implements Failure {
        @Override
        public String sentence() {
            return "Maximum file count exceeded";
        }
    }

    record WorkspaceFull(long maxBytes, long currentBytes, long fileBytes) implements Failure {
        @Override
        public String sentence() {
            return "Workspace size limit exceeded";
        }
    }

    /// The sandbox's disk, which the kernel bounds, has no room left.
    record DiskFull(SandboxId id) implements Failure {
        @Override
        public String sentence() {
            return "the disk of sandbox " + id + " is full; remove some files";
        }
    }

    /// The file system of the server has too little free space for what was asked.
    record NoDiskSpace(String why, Duration retryAfter) implements Failure {
        @Override
        public String sentence() {
            return why;
        }
    }

    record BodyTooLarge(long maxBytes) implements Failure {
        @Override
        public String sentence() {
            return "the request body is larger than " + maxBytes + " bytes";
        }
    }

    /// Nothing listens where a connection into the sandbox was wanted.
    record ConnectionRefused(String target) implements Failure {
        @Override
        public String sentence() {
            return "nothing in the sandbox listens on " + target
                    + "; start the program, and have it listen on localhost or on every address";
        }
    }

    /// A program in the sandbox was reached, and what it sent is no HTTP answer.
    record BadAnswer(String target, String why) implements Failure {
        @Override
        public String sentence() {
            return "what listens on " + target + " in the sandbox did not answer properly: " + why;
        }
    }

    /// A program in the sandbox was reached, and said nothing for too long.
    record AnswerTimedOut(String target, Duration patience) implements Failure {
        @Override
        public String sentence() {
            return "what listens on " + target + " in the sandbox sent nothing for " + patience.toSeconds() + " s";
        }
    }

    record Unsupported(String feature, String why) implements Failure {
        @Override
        public String sentence() {
            return feature + " is not supported: " + why;
        }
    }

    record AtCapacity(int limit, Duration retryAfter) implements OfCapacity {
        @Override
        public String sentence() {
            return "Pool at max capacity: all " + limit + " sandboxes are in use; retry after " + retryAfter.toSeconds()
                    + " s";
        }
    }

    /// The server holds as many bytes for unfinished work as it may. `limitBytes` is the share of one caller.
    record TooMuchInFlight(long limitBytes, Duration retryAfter) implements OfCapacity {
        @Override
        public String sentence() {
            return "the server holds too many bytes for unfinished requests, of which one caller may have " + limitBytes
                    + "; read or close the open ones, or retry after " + retryAfter.toSeconds() + " s";
        }
    }

    record TooManyCommands(SandboxId id, int limit) implements OfCapacity {
        @Override
        public String sentence() {
            return "sandbox " + id + " runs " + limit + " commands already; wait for one to end";
        }
    }

    record ShuttingDown() implements OfCapacity {
        @Override
        public String sentence() {
            return "the server is stopping; retry in a moment";
        }
    }

    record GuestUnreachable(SandboxId id, String why) implements OfPlatform {
        @Override
        public String sentence() {
            return "sandbox " + id + " does not answer: " + why;
        }
    }

    /// A step of the isolation provider failed; `why` is the runtime's own word.
    record ProviderFailed(String step, String why) implements OfPlatform {
        @Override
        public String sentence() {
            return step + " failed: " + why;
        }
    }

    record StoreFailed(String why) implements OfPlatform {
        @Override
        public String sentence() {
            return "the store did not answer: " + why;
        }
    }

    /// The server could not be reached, broke off or did not answer in time. Only clients make it: nobody can say
    /// whether a command that was sent has run.
    record ServerUnreachable(String server, String why) implements OfPlatform {
        @Override
        public String sentence() {
            return "the server at " + server + " did not answer: " + why;
        }
    }

    record Internal(String requestId) implements OfPlatform {
        @Override
        public String sentence() {
            return "something went wrong on our side; the log has it under request " + requestId;
        }
    }

    /// A failure that a newer server sent and this client does not know.
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
