package dev.vivarium.server.settings;

import dev.vivarium.core.run.Transcripts;
import dev.vivarium.core.task.TaskLimits;
import java.time.Duration;

/// Settings of agent runs. Immutable.
///
/// @param image image with the agents' SDKs
/// @param reviewTimeout how long the server waits for a person to answer a review
/// @param transcripts retention of conversations
/// @param afterRun idle timeout of a sandbox after the run that created it; zero for no change
/// @param tasks limits of the tasks that run at a time
public record RunConfig(
        String image, Duration reviewTimeout, Transcripts.Retention transcripts, Duration afterRun, TaskLimits tasks) {
    static RunConfig of(Settings settings) {
        return new RunConfig(
                settings.get(Catalogue.WORKER_IMAGE),
                settings.get(Catalogue.REVIEW_TIMEOUT),
                new Transcripts.Retention(
                        settings.get(Catalogue.TRANSCRIPTS_KEPT),
                        (long) settings.get(Catalogue.TRANSCRIPTS_MB) * 1024 * 1024),
                settings.get(Catalogue.AFTER_RUN),
                new TaskLimits(
                        settings.get(Catalogue.MAX_RUNNING_TASKS),
                        settings.get(Catalogue.MAX_RUNNING_TASKS_PER_USER),
                        settings.get(Catalogue.MAX_RUNNING_TASKS_PER_AGENT_TYPE)));
    }
}
