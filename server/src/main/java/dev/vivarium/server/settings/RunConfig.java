package dev.vivarium.server.settings;

/// How agents are run. Immutable.
///
/// @param image the one that has the agents' SDKs
public record RunConfig(String image) {
    static RunConfig of(Settings settings) {
        return new RunConfig(settings.get(Catalogue.WORKER_IMAGE));
    }
}
