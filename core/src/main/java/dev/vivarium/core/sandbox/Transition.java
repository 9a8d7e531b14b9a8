package dev.vivarium.core.sandbox;

import dev.vivarium.model.End;
import java.util.Arrays;
import java.util.Optional;

/// Transition of a sandbox between two states. Immutable. All transitions that are not in this table are impossible.
///
/// ```
///              start              pause
///   Creating ─────────▶ Running ─────────▶ Paused
///       │               ▲ │  ▲   resume      │ ▲
///       │       recover │ │  └───────────────┤ │ find
///       │               │ ▼ lose             │ │
///       │             Recovering ────────────┼─┘
///       │                 │                  │
///       └─────────────────┴──────────────────┴────▶ Terminated (terminate) · Failed (fail), from each
///
///             hibernate               wake
///   Running, ───────────▶ Hibernated ───────▶ Running
///   Paused, Recovering
/// ```
///
/// | transition | meaning | status in the store meanwhile |
/// |---|---|---|
/// | start | the guest has connected | `creating`, or `pooled` |
/// | pause | the processes are frozen | `paused` |
/// | resume | the processes continue | `running` |
/// | lose | the stream to the guest broke, the machine may live | `running` |
/// | recover | the guest has reconnected, or the machine was started again on its disk | `running` |
/// | find | a paused machine was found after a restart and stays frozen | `paused` |
/// | hibernate | the machine is removed, and the disk stays | `hibernated` |
/// | wake | a machine was started on the disk | `running` |
/// | terminate | a user requested the end, or the lease was over | `terminated` |
/// | fail | the machine died, or the server gave up | `failed` |
///
/// The store is written before a transition is executed, so that a restart in the middle completes it: see
/// `docs/explain/lifecycle.md`.
public enum Transition {
    START(Kind.CREATING, Kind.RUNNING),
    PAUSE(Kind.RUNNING, Kind.PAUSED),
    RESUME(Kind.PAUSED, Kind.RUNNING),
    LOSE(Kind.RUNNING, Kind.RECOVERING),
    RECOVER(Kind.RECOVERING, Kind.RUNNING),
    FIND_PAUSED(Kind.RECOVERING, Kind.PAUSED),
    HIBERNATE(Kind.RUNNING, Kind.HIBERNATED),
    HIBERNATE_PAUSED(Kind.PAUSED, Kind.HIBERNATED),
    FIND_HIBERNATED(Kind.RECOVERING, Kind.HIBERNATED),
    WAKE(Kind.HIBERNATED, Kind.RUNNING),
    TERMINATE_CREATING(Kind.CREATING, Kind.TERMINATED),
    TERMINATE_RUNNING(Kind.RUNNING, Kind.TERMINATED),
    TERMINATE_RECOVERING(Kind.RECOVERING, Kind.TERMINATED),
    TERMINATE_PAUSED(Kind.PAUSED, Kind.TERMINATED),
    TERMINATE_HIBERNATED(Kind.HIBERNATED, Kind.TERMINATED),
    FAIL_CREATING(Kind.CREATING, Kind.FAILED),
    FAIL_RUNNING(Kind.RUNNING, Kind.FAILED),
    FAIL_RECOVERING(Kind.RECOVERING, Kind.FAILED),
    FAIL_PAUSED(Kind.PAUSED, Kind.FAILED),
    FAIL_HIBERNATED(Kind.HIBERNATED, Kind.FAILED);

    private final Kind from;
    private final Kind to;

    Transition(Kind from, Kind to) {
        this.from = from;
        this.to = to;
    }

    /// Kind of a state, without its resources.
    public enum Kind {
        CREATING,
        RUNNING,
        RECOVERING,
        PAUSED,
        HIBERNATED,
        TERMINATED,
        FAILED;

        static Kind of(State state) {
            return switch (state) {
                case State.Creating _ -> CREATING;
                case State.Running _ -> RUNNING;
                case State.Recovering _ -> RECOVERING;
                case State.Paused _ -> PAUSED;
                case State.Hibernated _ -> HIBERNATED;
                case State.Terminated _ -> TERMINATED;
                case State.Failed _ -> FAILED;
            };
        }
    }

    public Kind from() {
        return from;
    }

    public Kind to() {
        return to;
    }

    /// The transition between two kinds of state, if the table has one.
    static Optional<Transition> between(Kind from, Kind to) {
        return Arrays.stream(values())
                .filter(transition -> transition.from == from && transition.to == to)
                .findFirst();
    }

    /// Kind of the end for this cause: terminated or failed.
    static Kind endKind(End.Cause cause) {
        return switch (cause) {
            case USER, IDLE, LIFETIME -> Kind.TERMINATED;
            case OOM, CRASH, HOST_RESTART, QUARANTINED, SERVER -> Kind.FAILED;
        };
    }
}
