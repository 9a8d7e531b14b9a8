package dev.vivarium.model;

/// How far the guardian may go if a run does not progress. Each policy includes the ones before it. Immutable.
public enum GuardianPolicy implements TextEnum {
    /// The guardian ignores the run.
    OFF,
    /// The guardian only appends events.
    WATCH,
    /// The guardian sends messages to the agent, and then pauses the run and asks a person.
    STEER,
    /// As [#STEER], and then the guardian stops the run.
    STOP
}
