package dev.vivarium.server.settings;

import dev.vivarium.core.guard.liveness.LivenessConfig;
import dev.vivarium.core.run.Transcripts;
import dev.vivarium.core.task.TaskLimits;
import dev.vivarium.model.ReviewPolicy;
import dev.vivarium.model.Run;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// Settings of agent runs. Immutable.
///
/// @param image image with the agents' SDKs
/// @param reviews default policy of reviews
/// @param transcripts retention of conversations
/// @param afterRun idle timeout of a sandbox after the run that created it; zero for no change
/// @param tasks limits of the tasks that run at a time
/// @param notifications webhooks and the health of the queue
/// @param liveness supervision of workers
/// @param git settings of git repositories
/// @param diagnosis search for stuck workflows
public record RunConfig(
        String image,
        ReviewPolicy reviews,
        Transcripts.Retention transcripts,
        Duration afterRun,
        TaskLimits tasks,
        GuardianConfig guardian,
        GitConfig git,
        Diagnosis diagnosis,
        NotificationConfig notifications,
        LivenessConfig liveness) {
    /// Maximum size of all forensics. One bundle has at most a few megabytes.
    private static final long FORENSICS_BYTES = 256L * 1024 * 1024;

    /// @param program program of diagnostic tasks; absent for none
    public record Diagnosis(Duration every, Optional<Run.Program> program) {}

    static RunConfig of(Settings settings) {
        return new RunConfig(
                settings.get(Catalogue.WORKER_IMAGE),
                ReviewPolicy.of(settings.get(Catalogue.REVIEW_TIMEOUT), settings.get(Catalogue.REVIEW_ON_TIMEOUT)),
                new Transcripts.Retention(
                        settings.get(Catalogue.TRANSCRIPTS_KEPT),
                        (long) settings.get(Catalogue.TRANSCRIPTS_MB) * 1024 * 1024),
                settings.get(Catalogue.AFTER_RUN),
                new TaskLimits(
                        settings.get(Catalogue.MAX_RUNNING_TASKS),
                        settings.get(Catalogue.MAX_RUNNING_TASKS_PER_USER),
                        settings.get(Catalogue.MAX_RUNNING_TASKS_PER_AGENT_TYPE)),
                GuardianConfig.of(settings),
                GitConfig.of(settings),
                new Diagnosis(
                        settings.get(Catalogue.DIAGNOSTIC_INTERVAL),
                        settings.get(Catalogue.DIAGNOSTIC_RUNTIME)
                                .map(runtime -> new Run.Program(runtime, List.of(), Optional.empty()))),
                NotificationConfig.of(settings),
                liveness(settings));
    }

    private static LivenessConfig liveness(Settings settings) {
        return new LivenessConfig(
                new LivenessConfig.Idle(
                        settings.get(Catalogue.IDLE_DETECTION),
                        settings.get(Catalogue.IDLE_THRESHOLD),
                        settings.get(Catalogue.IDLE_CHECK)),
                new LivenessConfig.Heartbeats(
                        settings.get(Catalogue.HEARTBEAT),
                        settings.get(Catalogue.HEARTBEAT_CHECK),
                        settings.get(Catalogue.MAX_RESTARTS)),
                new LivenessConfig.Bundles(
                        settings.home().resolve("forensics"), settings.get(Catalogue.LOG_KEEP), FORENSICS_BYTES));
    }
}
