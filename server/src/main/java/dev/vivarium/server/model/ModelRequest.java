package dev.vivarium.server.model;

import dev.vivarium.json.ModelJson;
import dev.vivarium.model.SandboxException;
import java.util.Optional;

/// Model request of an agent: the body to forward, and the model's name. Immutable.
///
/// @param maxTokens maximum number of output tokens
@SuppressWarnings("ArrayRecordComponent") // Never compared; a copy may be tens of megabytes.
record ModelRequest(Optional<byte[]> body, String model, long maxTokens) {
    private static final String UNNAMED = "unknown";
    private static final int MAX_NAME = 100;

    /// Output tokens of a request without a limit. Few models write more in one response.
    private static final long USUAL_MAX_TOKENS = 32_768;

    static final ModelRequest EMPTY = new ModelRequest(Optional.empty(), UNNAMED, 0);

    static ModelRequest of(ModelApi dialect, byte[] body) throws ModelError {
        try {
            var outline = ModelJson.outline(body);
            boolean mustAsk = dialect == ModelApi.OPENAI && outline.isStreamed();
            if (mustAsk && outline.usage() == ModelJson.Outline.Usage.UNWANTED) {
                throw new ModelError(
                        ModelError.Kind.MALFORMED,
                        "stream_options.include_usage must not be false: answers are charged by it");
            }
            String model = outline.model().filter(name -> !name.isBlank()).orElse(UNNAMED);
            return new ModelRequest(
                    Optional.of(mustAsk ? outline.askingForUsage(body) : body),
                    model.length() <= MAX_NAME ? model : model.substring(0, MAX_NAME),
                    outline.maxTokens().orElse(USUAL_MAX_TOKENS));
        } catch (SandboxException e) {
            throw new ModelError(ModelError.Kind.MALFORMED, e.failure().sentence());
        }
    }

    int length() {
        return body.map(bytes -> bytes.length).orElse(0);
    }
}
