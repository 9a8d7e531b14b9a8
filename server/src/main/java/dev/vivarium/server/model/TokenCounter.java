package dev.vivarium.server.model;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.Usage;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/// Counts the tokens of one answer while it passes. What the model does not say, or says in numbers that make no sense,
/// is estimated, so that no answer is free. Confined to the worker that passes the answer on.
final class TokenCounter {
    /// About so many bytes are a token, in most languages of people and machines.
    private static final long BYTES_A_TOKEN = 4;

    /// No answer takes more; beyond it, not every reader of JSON has the same number.
    private static final long MOST = 1L << 53;

    private static final String NOTHING_MORE = "[DONE]";

    private final ModelApi dialect;
    private String model;
    private long input = -1;
    private long output = -1;
    private long cacheRead;
    private long cacheWrite;
    private long longCacheWrite;
    private long saidBytes;
    private boolean begun;
    private boolean finished;
    private boolean inDoubt;
    private boolean ended;

    /// @param askedFor the model of the question, until the answer names its own
    TokenCounter(ModelApi dialect, String askedFor) {
        this.dialect = dialect;
        this.model = askedFor;
    }

    void model(Optional<String> name) {
        name.filter(text -> !text.isBlank()).ifPresent(text -> model = text);
    }

    /// An object that tells of tokens, if there is one.
    Optional<JsonFields> part(JsonFields whole, String name) {
        try {
            return whole.optionalObject(name);
        } catch (SandboxException e) {
            inDoubt = true;
            return Optional.empty();
        }
    }

    /// How many tokens are told under this name, if they are. A number that makes no sense is not told, and puts
    /// the others in doubt: they may leave out what it was to say.
    Optional<Long> told(JsonFields usage, String name) {
        try {
            Optional<Long> tokens = usage.optionalInteger(name);
            if (tokens.isEmpty() || (tokens.get() >= 0 && tokens.get() <= MOST)) {
                return tokens;
            }
        } catch (SandboxException e) {
            // Not a whole number at all.
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

    /// How many of those that were written to the cache stay there for an hour; they cost more.
    void longCacheWrite(long tokens) {
        longCacheWrite = tokens;
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

    /// Nothing more has to come.
    void ended() {
        ended = true;
    }

    /// One event of a stream. What is not understood is not counted.
    void event(String data) {
        begun = true;
        if (data.equals(NOTHING_MORE)) {
            ended |= dialect == ModelApi.OPENAI;
        } else {
            try {
                dialect.event(Json.answer(data), this);
            } catch (SandboxException e) {
                // It is passed on as it came; the estimate stands for it.
                saidBytes += data.length();
            }
        }
    }

    /// An answer in one piece. Reports whether it is an answer at all. What is not understood is not counted.
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
            saidBytes += json.length();
        }
        return true;
    }

    /// Reports whether anything of an answer came, so that somebody will want to be paid.
    boolean hasBegun() {
        return begun;
    }

    /// Reports whether the last event of a stream has come, or the model's own word of why there is none.
    boolean hasEnded() {
        return ended;
    }

    /// Reports whether some of the numbers are ours.
    boolean isEstimated() {
        return begun && (!finished || inDoubt || input < 0 || output < 0);
    }

    /// What was taken, and what it costs.
    ///
    /// @param asked how many bytes the question had
    Usage usage(long asked, Prices prices) {
        if (!begun) {
            return new Usage(model, 0, 0, 0, 0, java.math.BigDecimal.ZERO);
        }
        long in = input >= 0 && !inDoubt ? input : Math.max(input, tokens(asked));
        long out = output >= 0 && finished && !inDoubt ? output : Math.max(output, tokens(saidBytes));
        var cost = prices.of(model).cost(in, out, cacheRead, cacheWrite, Math.min(longCacheWrite, cacheWrite));
        return new Usage(model, in, out, cacheRead, cacheWrite, cost);
    }

    private static long tokens(long bytes) {
        return (bytes + BYTES_A_TOKEN - 1) / BYTES_A_TOKEN;
    }
}
