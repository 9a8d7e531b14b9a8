package dev.vivarium.server.model;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.Usage;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/// Counter for the tokens of one model response. Confined to the worker that relays the response.
///
/// It estimates numbers that are missing or invalid, so that no response is free.
final class TokenCounter {
    /// Average number of bytes per token, in most natural and programming languages.
    private static final long BYTES_A_TOKEN = 4;

    /// Largest number that every JSON parser represents exactly. No response uses more tokens.
    private static final long MAX_TOKENS = 1L << 53;

    private static final String LAST_EVENT = "[DONE]";

    private final ModelApi dialect;
    private String model;
    private long input = -1;
    private long output = -1;
    private long cacheRead;
    private long cacheWrite;
    private long longCacheWrite;
    private long outputBytes;
    private boolean begun;
    private boolean finished;
    private boolean inDoubt;
    private boolean ended;

    /// @param requested model of the request, used until the response names a model
    TokenCounter(ModelApi dialect, String requested) {
        this.dialect = dialect;
        this.model = requested;
    }

    void model(Optional<String> name) {
        name.filter(text -> !text.isBlank()).ifPresent(text -> model = text);
    }

    /// Returns an object with token numbers, if it is present and valid.
    Optional<JsonFields> part(JsonFields whole, String name) {
        try {
            return whole.optionalObject(name);
        } catch (SandboxException e) {
            inDoubt = true;
            return Optional.empty();
        }
    }

    /// Returns a token number, if it is present and valid. An invalid number makes the counter estimate the others
    /// too, because they may not include its tokens.
    Optional<Long> tokenCount(JsonFields usage, String name) {
        try {
            Optional<Long> tokens = usage.optionalInteger(name);
            if (tokens.isEmpty() || (tokens.get() >= 0 && tokens.get() <= MAX_TOKENS)) {
                return tokens;
            }
        } catch (SandboxException e) {
            // The value is not an integer.
        }
        inDoubt = true;
        return Optional.empty();
    }

    void input(long tokens) {
        input = tokens;
    }

    void output(long tokens) {
        output = tokens;
    }

    void cacheRead(long tokens) {
        cacheRead = tokens;
    }

    void cacheWrite(long tokens) {
        cacheWrite = tokens;
    }

    /// Sets how many cache-write tokens stay for one hour. They cost more.
    void longCacheWrite(long tokens) {
        longCacheWrite = tokens;
    }

    void outputText(Optional<String> words) {
        words.ifPresent(text -> outputBytes += text.getBytes(StandardCharsets.UTF_8).length);
    }

    /// Marks that the model received the request.
    void begun() {
        begun = true;
    }

    /// Marks that the model reported its usage.
    void finished() {
        finished = true;
    }

    /// Marks the end of the response.
    void ended() {
        ended = true;
    }

    /// Counts one event of a stream. For an event that it cannot parse, it estimates the tokens.
    void event(String data) {
        begun = true;
        if (data.equals(LAST_EVENT)) {
            ended |= dialect == ModelApi.OPENAI;
        } else {
            try {
                dialect.event(Json.answer(data), this);
            } catch (SandboxException e) {
                // The relay forwards the event unchanged.
                outputBytes += data.length();
            }
        }
    }

    /// Counts a response without streaming. Reports whether it is a valid response.
    boolean whole(String json) {
        begun = true;
        JsonFields answer;
        try {
            answer = Json.answer(json);
        } catch (SandboxException e) {
            return false;
        }
        try {
            dialect.whole(answer, this);
        } catch (SandboxException e) {
            outputBytes += json.length();
        }
        return true;
    }

    /// Reports whether the last event or an error event of the stream arrived.
    boolean hasEnded() {
        return ended;
    }

    /// Reports whether some of the numbers are estimates.
    boolean isEstimated() {
        return begun && (!finished || inDoubt || input < 0 || output < 0);
    }

    /// Returns the usage and its cost.
    ///
    /// @param requestBytes length of the request in bytes
    Usage usage(long requestBytes, Prices prices) {
        if (!begun) {
            return new Usage(model, 0, 0, 0, 0, java.math.BigDecimal.ZERO);
        }
        long in = input >= 0 && !inDoubt ? input : Math.max(input, tokens(requestBytes));
        long out = output >= 0 && finished && !inDoubt ? output : Math.max(output, tokens(outputBytes));
        var cost = prices.priceOf(model).cost(in, out, cacheRead, cacheWrite, Math.min(longCacheWrite, cacheWrite));
        return new Usage(model, in, out, cacheRead, cacheWrite, cost);
    }

    /// Estimates the tokens of a text.
    static long tokens(long bytes) {
        return (bytes + BYTES_A_TOKEN - 1) / BYTES_A_TOKEN;
    }
}
