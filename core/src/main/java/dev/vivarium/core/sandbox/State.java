package dev.vivarium.core.sandbox;

import dev.vivarium.core.guest.Guest;
import dev.vivarium.core.provider.Machine;
import dev.vivarium.model.End;
import dev.vivarium.model.Status;
import java.util.Optional;

/// State of a sandbox, with its resources. Only [Running] has a usable guest, so a command cannot be sent in another
/// state. [Transition] defines the transitions. Immutable.
sealed interface State {
    /// The machine is being started.
    record Creating() implements State {}

    /// The sandbox is usable.
    record Running(Machine machine, Guest guest) implements State {}

    /// The sandbox should run, but has no connection to its guest: the server has just started, or the stream
    /// broke. Callers wait for the result, with a timeout.
    record Recovering(Status was) implements State {}

    /// The processes are frozen.
    record Paused(Machine machine, Frozen guest, PauseReason why) implements State {}

    /// The sandbox has a disk and no machine. The next call starts a machine on the disk.
    record Hibernated(PauseReason why) implements State {}

    /// The sandbox ended on request.
    record Terminated(End end) implements State {}

    /// The sandbox ended by a failure.
    record Failed(End end) implements State {}

    /// Guest of a paused sandbox. The connection stays open during a pause, because running commands continue with
    /// it. After a restart of the server, it is empty, and the guest connects on resume.
    record Frozen(Optional<Guest> guest) {}

    default Status status() {
        return switch (this) {
            case Creating() -> Status.CREATING;
            case Running _ -> Status.RUNNING;
            case Recovering(Status was) -> was;
            case Paused _ -> Status.PAUSED;
            case Hibernated _ -> Status.HIBERNATED;
            case Terminated _ -> Status.TERMINATED;
            case Failed _ -> Status.FAILED;
        };
    }

    default Optional<End> findEnd() {
        return switch (this) {
            case Terminated(End end) -> Optional.of(end);
            case Failed(End end) -> Optional.of(end);
            case Creating _, Running _, Recovering _, Paused _, Hibernated _ -> Optional.empty();
        };
    }

    /// Reason why the server paused or hibernated the sandbox, as a sentence. Empty if a user requested the pause.
    default Optional<String> findReason() {
        return switch (this) {
            case Paused paused
            when paused.why().isByServer() -> Optional.of(paused.why().sentence());
            case Hibernated(PauseReason why) -> Optional.of(why.sentence());
            case Paused _, Creating _, Running _, Recovering _, Terminated _, Failed _ -> Optional.empty();
        };
    }

    default Optional<Machine> findMachine() {
        return switch (this) {
            case Running running -> Optional.of(running.machine());
            case Paused paused -> Optional.of(paused.machine());
            case Creating _, Recovering _, Hibernated _, Terminated _, Failed _ -> Optional.empty();
        };
    }
}
