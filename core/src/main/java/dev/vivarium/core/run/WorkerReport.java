package dev.vivarium.core.run;

import dev.vivarium.model.Event;
import dev.vivarium.model.Usage;
import java.util.Optional;

/// Meaning of a worker's event for its run. Immutable.
public sealed interface WorkerReport {
    /// The agent used a tool.
    record ToolUsed() implements WorkerReport {}

    /// The total usage so far, by the program's own count.
    record Used(Usage total) implements WorkerReport {}

    /// The name under which the agent's conversation is stored.
    record Conversation(String session) implements WorkerReport {}

    /// The agent's own judgement of its work. The run continues until the worker has exited.
    record Judged(RunOutcome outcome) implements WorkerReport {}

    /// Decodes the JSON data of an event. Thread-safe.
    interface Decoder {
        /// Empty if the event means nothing for the run, or its data cannot be read.
        Optional<WorkerReport> decode(Event event);
    }
}
