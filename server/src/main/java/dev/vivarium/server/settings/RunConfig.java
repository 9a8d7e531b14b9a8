package dev.vivarium.server.settings;

import dev.vivarium.core.run.Transcripts;
import java.time.Duration;

/// How agents are run. Immutable.
///
/// @param image the one that has the agents' SDKs
/// @param reviewTimeout how long a question to a person may stay without an answer
/// @param transcripts which conversations are kept
public record RunConfig(String image, Duration reviewTimeout, Transcripts.Kept transcripts) {
    static RunConfig of(Settings settings) {
        return new RunConfig(
                settings.get(Catalogue.WORKER_IMAGE),
                settings.get(Catalogue.REVIEW_TIMEOUT),
                new Transcripts.Kept(
                        settings.get(Catalogue.TRANSCRIPTS_KEPT),
                        (long) settings.get(Catalogue.TRANSCRIPTS_MB) * 1024 * 1024));
    }
}
