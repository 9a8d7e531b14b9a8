package dev.vivarium.server.settings;

import dev.vivarium.core.run.Transcripts;
import java.time.Duration;

/// Settings of agent runs. Immutable.
///
/// @param image image with the agents' SDKs
/// @param reviewTimeout how long the server waits for a person to answer a review
/// @param transcripts retention of conversations
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
