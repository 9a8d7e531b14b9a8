package dev.vivarium.core.run;

import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxId;
import java.util.Optional;

/// Conversation and task that a new run takes over from an earlier one. Immutable.
///
/// @param session    conversation that the agent resumes
/// @param transcript sandbox whose stored transcript is copied into the new one. Absent if the files contain it
/// @param restarted  run that ended abnormally and whose task the new run continues
record RunOrigin(Optional<String> session, Optional<SandboxId> transcript, Optional<RunId> restarted) {
    static final RunOrigin NONE = new RunOrigin(Optional.empty(), Optional.empty(), Optional.empty());
}
