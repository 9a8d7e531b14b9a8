package dev.vivarium.model;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/// One agent at one task in one sandbox. Immutable.
///
/// @param reason     sentence that explains why the run waits or ended
/// @param reasonCode machine-readable reason of the end
/// @param session    conversation of the agent, which another run can resume
/// @param process    process id of the worker in the sandbox
/// @param guardian   policy of this run, if it is not that of the server
public record Run(
        RunId id,
        SandboxId sandbox,
        TaskId task,
        UserId owner,
        ThreadId thread,
        Program program,
        Status status,
        Optional<String> reason,
        Optional<String> reasonCode,
        Optional<BigDecimal> budgetUsd,
        Spent spent,
        Optional<String> session,
        Optional<String> process,
        Instant startedAt,
        Optional<Instant> endedAt,
        Optional<Heartbeat> heartbeat,
        Optional<GuardianPolicy> guardian) {

    /// Reason of a run that a client paused.
    public static final String HELD = "paused by request";

    public ThreadKey key() {
        return new ThreadKey(owner, thread);
    }

    /// Last heartbeat of the worker.
    ///
    /// @param metrics metrics that the worker reported, a JSON object as text
    public record Heartbeat(Instant at, String metrics) {}

    /// Runtime, with its program for `command`, or with its model. Immutable.
    public record Program(Runtime runtime, List<String> command, Optional<String> model) {
        public Program {
            command = List.copyOf(command);
        }
    }

    /// Agent runtime.
    public enum Runtime implements TextEnum {
        /// The Claude Agent SDK.
        CLAUDE,
        /// The OpenHands SDK.
        OPENHANDS,
        /// Any program.
        COMMAND
    }

    /// Status of a run. The last three are final.
    public enum Status implements TextEnum {
        CREATING,
        RUNNING,
        /// A client paused it, or it waits for the answer to a review.
        PAUSED,
        COMPLETED,
        FAILED,
        /// Its sandbox ended before the run did.
        TERMINATED;

        public boolean isFinal() {
            return switch (this) {
                case CREATING, RUNNING, PAUSED -> false;
                case COMPLETED, FAILED, TERMINATED -> true;
            };
        }
    }

    public boolean isActive() {
        return !status.isFinal();
    }
}
