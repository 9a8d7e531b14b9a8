package dev.vivarium.core.access;

import dev.vivarium.core.Digests;
import dev.vivarium.core.MasterKey;
import dev.vivarium.model.Failure;
import dev.vivarium.model.RequestFailure;
import dev.vivarium.model.SandboxException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// One-time codes for sign-in links to the console. A code starts one browser session. Thread-safe.
///
/// A code has 256 random bits and expires after [#LIFETIME]. The server holds only the hashes of the codes, in memory,
/// so a restart invalidates all codes.
public final class SignInCodes {
    /// Time within which a user must open the link.
    public static final Duration LIFETIME = Duration.ofMinutes(5);

    /// Maximum number of unused codes of one key. One more code evicts the oldest.
    static final int MAX_PER_KEY = 10;

    /// Maximum number of wrong codes in a minute, from all clients together.
    static final int MAX_WRONG = 30;

    private static final Duration WINDOW = Duration.ofMinutes(1);
    private static final int BYTES = 32;

    private final InstantSource clock;
    private final SecureRandom random = new SecureRandom();

    /// By hash, oldest first.
    private final Map<String, Unused> codes = new LinkedHashMap<>();

    private Instant windowStart = Instant.EPOCH;
    private int wrong;

    private record Unused(String keyHash, Instant expires) {}

    /// A new code with its text, which the server does not store. Immutable.
    public record Code(String text, Instant expires) {
        @Override
        public String toString() {
            return "Code[until " + expires + "]";
        }
    }

    SignInCodes(InstantSource clock) {
        this.clock = clock;
    }

    /// Issues a code with the rights of a key.
    synchronized Code issue(String keyHash) {
        Instant now = clock.instant();
        codes.values().removeIf(code -> !now.isBefore(code.expires()));
        long present = codes.values().stream()
                .filter(code -> code.keyHash().equals(keyHash))
                .count();
        if (present >= MAX_PER_KEY) {
            removeOldest(keyHash);
        }
        String text = Base64.getUrlEncoder().withoutPadding().encodeToString(MasterKey.bytes(random, BYTES));
        var unused = new Unused(keyHash, now.plus(LIFETIME));
        codes.put(Digests.sha256(text), unused);
        return new Code(text, unused.expires());
    }

    private void removeOldest(String keyHash) {
        for (Iterator<Unused> all = codes.values().iterator(); all.hasNext(); ) {
            if (all.next().keyHash().equals(keyHash)) {
                all.remove();
                return;
            }
        }
    }

    /// Consumes a code and returns the hash of its key. Throws [Failure.NotAuthenticated] for a code that is
    /// unknown, expired or used, and [RequestFailure.RateLimited] after too many such codes.
    synchronized String redeem(String code) {
        Instant now = clock.instant();
        if (!now.isBefore(windowStart.plus(WINDOW))) {
            windowStart = now;
            wrong = 0;
        }
        if (wrong >= MAX_WRONG) {
            throw new SandboxException(
                    new RequestFailure.RateLimited("too many invalid sign-in codes; wait a minute, or use a key"));
        }
        @Nullable Unused found = codes.remove(Digests.sha256(code));
        if (found == null || !now.isBefore(found.expires())) {
            wrong++;
            throw new SandboxException(
                    new Failure.NotAuthenticated("the sign-in link is not valid, has expired or was used before"));
        }
        return found.keyHash();
    }
}
