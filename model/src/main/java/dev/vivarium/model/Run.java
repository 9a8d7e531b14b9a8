package dev.vivarium.model;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/// One agent at one task in one sandbox. Immutable.
///
/// @param reason why it waits, or why it ended, as a sentence
/// @param reasonCode the same for programs, where there is a word for it: `budget`
/// @param session the conversation of the agent, by which another run can go on with it
/// @param process the worker, as the sandbox knows it
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
        Optional<Heartbeat> heartbeat) {

    /// The reason of what stands still because somebody wanted it so.
    public static final String HELD = "paused by request";

    /// The last sign of life of its worker.
    ///
    /// @param metrics what it said of itself, a JSON object as text
    public record Heartbeat(Instant at, String metrics) {}

    /// What runs: one of the runtimes, with the program of `command` or the model that the agent asks. Immutable.
    public record Program(Runtime runtime, List<String> command, Optional<String> model) {
        public Program {
            command = List.copyOf(command);
        }
    }

    /// What an agent is made of.
    public enum Runtime {
        /// The Claude Agent SDK.
        CLAUDE,
        /// The OpenHands SDK.
        OPENHANDS,
        /// Any program.
        COMMAND;

        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }

        public static Optional<Runtime> find(String text) {
            return Arrays.stream(values())
                    .filter(runtime -> runtime.text().equals(text))
                    .findFirst();
        }
    }

    /// Where it is in its life. The last three are final.
    public enum Status {
        CREATING,
        RUNNING,
        /// Somebody paused it, or it waits for the answer to a review.
        PAUSED,
        COMPLETED,
        FAILED,
        /// Its sandbox ended under it.
        TERMINATED;

        public boolean isFinal() {
            return switch (this) {
                case CREATING, RUNNING, PAUSED -> false;
                case COMPLETED, FAILED, TERMINATED -> true;
            };
        }

        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }

        public static Optional<Status> find(String text) {
            return Arrays.stream(values())
                    .filter(status -> status.text().equals(text))
                    .findFirst();
        }
    }

    public boolean isActive() {
        return !status.isFinal();
    }
}
