package dev.vivarium.server.settings;

import java.time.Duration;

/// How agents are run. Immutable.
///
/// @param image the one that has the agents' SDKs
/// @param reviewTimeout how long a question to a person may stay without an answer
/// @param transcriptsKept how long a conversation is kept after it last grew
public record RunConfig(String image, Duration reviewTimeout, Duration transcriptsKept) {
    static RunConfig of(Settings settings) {
        return new RunConfig(
                settings.get(Catalogue.WORKER_IMAGE),
                settings.get(Catalogue.REVIEW_TIMEOUT),
                settings.get(Catalogue.TRANSCRIPTS_KEPT));
    }
}
