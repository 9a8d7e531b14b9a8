package dev.vivarium.server.model;

import dev.vivarium.json.Json;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.Usage;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/// Counts the tokens of one answer while it passes. What the model does not say is estimated, so that no answer is
/// free. Confined to the worker that passes the answer on.
final class Tally {
    /// About so many bytes are a token, in most languages of people and machines.
    private static final long BYTES_A_TOKEN = 4;

    private static final String NOTHING_MORE = "[DONE]";

    private final Dialect dialect;
    private String model;
    private long input = -1;
    private long output = -1;
    private long cacheRead;
    private long cacheWrite;
    private long longCacheWrite;
    private long saidBytes;
    private boolean begun;
    private boolean finished;

    /// @param askedFor the model of the question, until the answer names its own
    Tally(Dialect dialect, String askedFor) {
        this.dialect = dialect;
        this.model = askedFor;
    }

    void model(Optional<String> name) {
        name.filter(text -> !text.isBlank()).ifPresent(text -> model = text);
    }

    void input(long tokens) {
        input = Math.max(0, tokens);
    }

    void output(long tokens) {
        output = Math.max(0, tokens);
    }

    void cacheRead(long tokens) {
        cacheRead = Math.max(0, tokens);
    }

    void cacheWrite(long tokens) {
        cacheWrite = Math.max(0, tokens);
    }

    /// How many of those that were written to the cache stay there for an hour; they cost more.
    void longCacheWrite(long tokens) {
        longCacheWrite = Math.max(0, tokens);
    }

    void said(Optional<String> words) {
        words.ifPresent(text -> saidBytes += text.getBytes(StandardCharsets.UTF_8).length);
    }

    /// The model has the question, whatever it says.
    void begun() {
        begun = true;
    }

    /// The model has said what it took.
    void finished() {
        finished = true;
    }

    /// One event of a stream. What is not understood is not counted.
    void event(String data) {
        begun = true;
        if (!data.equals(NOTHING_MORE)) {
            try {
                dialect.event(Json.answer(data), this);
            } catch (SandboxException e) {
                // It is passed on as it came; the estimate stands for it.
                saidBytes += data.length();
            }
        }
    }

    /// An answer in one piece. Reports whether it is an answer of this kind at all.
    boolean whole(String json) {
        try {
            begun = true;
            dialect.whole(Json.answer(json), this);
            return true;
        } catch (SandboxException e) {
            return false;
        }
    }

    /// Reports whether anything of an answer came, so that somebody will want to be paid.
    boolean hasBegun() {
        return begun;
    }

    /// Reports whether some of the numbers are ours.
    boolean isEstimated() {
        return begun && (!finished || input < 0 || output < 0);
    }

    /// What was taken, and what it costs.
    ///
    /// @param asked how many bytes the question had
    Usage usage(long asked, Prices prices) {
        if (!begun) {
            return new Usage(model, 0, 0, 0, 0, java.math.BigDecimal.ZERO);
        }
        long in = input < 0 ? tokens(asked) : input;
        long out = finished && output >= 0 ? output : Math.max(output, tokens(saidBytes));
        var cost = prices.of(model).cost(in, out, cacheRead, cacheWrite, Math.min(longCacheWrite, cacheWrite));
        return new Usage(model, in, out, cacheRead, cacheWrite, cost);
    }

    private static long tokens(long bytes) {
        return (bytes + BYTES_A_TOKEN - 1) / BYTES_A_TOKEN;
    }
}
