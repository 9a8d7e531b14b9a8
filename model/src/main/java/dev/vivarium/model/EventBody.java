package dev.vivarium.model;

/// Type and data of an event. Immutable.
///
/// The families are the events that the server appends, and the events of workers that change a run. All other events
/// are [Custom].
///
/// To add an event, add a record to a family, extend both directions of the codec in `json`, and add a sample to its
/// test.
public sealed interface EventBody
        permits SandboxEvent,
                CommandEvent,
                ProcessEvent,
                FileEvent,
                RunEvent,
                LivenessEvent,
                TaskEvent,
                GitEvent,
                ReviewEvent,
                MessageEvent,
                GuardianEvent,
                ConductorEvent,
                AlertEvent,
                WorkerEvent,
                EventBody.Custom {
    /// Returns the type, for example `sandbox.started`.
    String type();

    /// An event as text. Agents and users choose its type and its data.
    ///
    /// @param data a JSON object
    record Custom(String type, String data) implements EventBody {}
}
