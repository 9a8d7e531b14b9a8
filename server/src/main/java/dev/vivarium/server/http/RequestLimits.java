package dev.vivarium.server.http;

import dev.vivarium.core.access.Principal;
import dev.vivarium.model.RequestFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// Concurrency limits for requests and streams per principal, and for file calls per sandbox. Thread-safe.
public final class RequestLimits {
    /// Number of streams per request slot. An idle stream costs little.
    private static final int STREAMS_PER_REQUEST = 4;

    private static final int FILE_CALLS = 128;

    private final int requests;
    private final Map<Key, Integer> running = new ConcurrentHashMap<>();

    /// @param requests maximum number of concurrent requests per principal
    public RequestLimits(int requests) {
        this.requests = requests;
    }

    private sealed interface Key {
        record Requests(String principal) implements Key {}

        record Streams(String principal) implements Key {}

        record FileCalls(SandboxId sandbox) implements Key {}
    }

    /// Allocates a slot for a stream of `who` outside a request, such as a WebSocket. Close the result.
    public Slots stream(Principal who) {
        var slots = new Slots();
        slots.take(new Key.Streams(name(who)));
        return slots;
    }

    /// Returns the slots of a request, none yet. Close the result.
    Slots slots() {
        return new Slots();
    }

    /// The worker of a sandbox has its own limit and does not use its owner's.
    private static String name(Principal who) {
        return who instanceof Principal.Worker(var grant)
                ? "worker " + grant.sandbox().value()
                : who.name().value();
    }

    private int max(Key key) {
        return switch (key) {
            case Key.Requests _ -> requests;
            case Key.Streams _ -> requests * STREAMS_PER_REQUEST;
            case Key.FileCalls _ -> FILE_CALLS;
        };
    }

    private static String sentence(Key key, int max) {
        String what = switch (key) {
            case Key.Requests _ -> max + " requests of this key or token";
            case Key.Streams _ -> max + " streams and long polls of this key or token";
            case Key.FileCalls(var sandbox) -> max + " file calls of sandbox " + sandbox;
        };
        return "at most " + what + " run at once; wait as long as Retry-After says";
    }

    /// Slots of one request. Thread-safe.
    public final class Slots implements AutoCloseable {
        private final List<Key> held = new ArrayList<>(2);

        /// Counts the request for its principal.
        void request(Principal who) {
            take(new Key.Requests(name(who)));
        }

        /// Counts the request of `who` as a stream or long poll from now on.
        synchronized void becomeStream(Principal who) {
            var streams = new Key.Streams(name(who));
            if (!held.contains(streams)) {
                take(streams);
                var before = new Key.Requests(name(who));
                if (held.remove(before)) {
                    release(before);
                }
            }
        }

        /// Counts the request as a file call of this sandbox.
        synchronized void files(SandboxId sandbox) {
            var calls = new Key.FileCalls(sandbox);
            if (!held.contains(calls)) {
                take(calls);
            }
        }

        private synchronized void take(Key key) {
            int max = max(key);
            int now = running.merge(key, 1, Integer::sum);
            if (now > max) {
                release(key);
                throw new SandboxException(new RequestFailure.TooManyRequests(sentence(key, max)));
            }
            held.add(key);
        }

        private void release(Key key) {
            running.computeIfPresent(key, (_, count) -> count == 1 ? null : Integer.valueOf(count - 1));
        }

        /// Releases all slots. Idempotent.
        @Override
        public synchronized void close() {
            held.forEach(this::release);
            held.clear();
        }
    }
}
