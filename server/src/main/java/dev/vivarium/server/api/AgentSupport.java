package dev.vivarium.server.api;

import dev.vivarium.core.provider.Provider;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.settings.ModelConfig;
import java.util.List;
import java.util.stream.Stream;

/// Finds what `claude` and `openhands` agents need on this server: an image with their SDKs, and a model.
/// Thread-safe.
public final class AgentSupport {
    /// Immutable.
    ///
    /// @param models APIs of the models that the server has a key or an address for
    record Reading(String image, boolean hasImage, List<String> models) {}

    private final Provider provider;
    private final String image;
    private final List<String> models;

    public AgentSupport(Provider provider, String image, ModelConfig config) {
        this.provider = provider;
        this.image = image;
        this.models = Stream.of(
                        isConfigured(config.anthropic()) ? "anthropic" : "",
                        isConfigured(config.openai()) ? "openai" : "")
                .filter(name -> !name.isEmpty())
                .toList();
    }

    /// A new image counts at once.
    Reading read() {
        return new Reading(image, hasImage(), models);
    }

    private boolean hasImage() {
        try {
            provider.requireImage(image);
            return true;
        } catch (SandboxException e) {
            return false;
        }
    }

    private static boolean isConfigured(ModelConfig.Provider model) {
        return model.key().isPresent() || !model.isVendor();
    }
}
