package dev.vivarium.core.sandbox;

import dev.vivarium.core.guest.Guest;
import dev.vivarium.core.provider.Machine;
import dev.vivarium.model.End;
import dev.vivarium.model.Status;
import java.util.Optional;

/// Where a sandbox is, with what it holds there. Only [Running] gives out a guest, so that a command cannot be sent to
/// a sandbox that has none. Immutable. [Transition] says what may follow what.
sealed interface State {
    /// Its machine is being started.
    record Creating() implements State {}

    /// It can be used.
    record Running(Machine machine, Guest guest) implements State {}

    /// It should run, but there is no stream to its guest at the moment: the server has just started and looks for
    /// the machine, or the stream broke. Callers wait a little for the outcome.
    record Recovering(Status was) implements State {}

    /// Its processes are frozen.
    record Paused(Machine machine, Frozen guest, PauseReason why) implements State {}

    /// It ended as it should.
    record Terminated(End end) implements State {}

    /// It ended as it should not.
    record Failed(End end) implements State {}

    /// A guest that cannot answer. The stream is kept over a pause, because commands that run go on with it; after
    /// a restart of the server there is none, and the guest is greeted when it has thawed.
    record Frozen(Optional<Guest> guest) {}

    /// What callers are told.
    default Status status() {
        return switch (this) {
            case Creating() -> Status.CREATING;
            case Running _ -> Status.RUNNING;
            case Recovering(Status was) -> was;
            case Paused _ -> Status.PAUSED;
            case Terminated _ -> Status.TERMINATED;
            case Failed _ -> Status.FAILED;
        };
    }

    default Optional<End> findEnd() {
        return switch (this) {
            case Terminated(End end) -> Optional.of(end);
            case Failed(End end) -> Optional.of(end);
            case Creating _, Running _, Recovering _, Paused _ -> Optional.empty();
        };
    }

    /// Why the server paused it, in a sentence. Empty if somebody asked for the pause.
    default Optional<String> findReason() {
        return this instanceof Paused paused && paused.why().cause() == PauseReason.Cause.DISK
                ? Optional.of(paused.why().sentence())
                : Optional.empty();
    }

    /// The machine, where one is known.
    default Optional<Machine> findMachine() {
        return switch (this) {
            case Running running -> Optional.of(running.machine());
            case Paused paused -> Optional.of(paused.machine());
            case Creating _, Recovering _, Terminated _, Failed _ -> Optional.empty();
        };
    }
}
