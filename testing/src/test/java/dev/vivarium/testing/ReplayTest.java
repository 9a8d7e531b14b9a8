package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.testing.ShellClient.Reading;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Stored and live events for watchers that disconnect at random and reconnect: each watcher receives every event once
/// and in order. Each seed gives another sequence of disconnects.
class ReplayTest {
    private static final int WRITERS = 4;
    private static final int WATCHERS = 6;
    private static final int EVENTS = 120;

    /// The event `sandbox.started` and the events of the writers.
    private static final long LAST = 1 + WRITERS * EVENTS;

    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with();

    private final Api api = SERVER.api();
    private final String session = api.session();

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void watchersReceiveEachEventOnceAcrossReconnects(long seed) throws Exception {
        try (var workers = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> writers = new ArrayList<>();
            List<Future<List<Long>>> watchers = new ArrayList<>();
            for (int i = 0; i < WATCHERS; i++) {
                var random = new Random(seed * 100 + i);
                watchers.add(workers.submit(() -> watch(random)));
            }
            for (int i = 0; i < WRITERS; i++) {
                var random = new Random(seed * 1000 + i);
                writers.add(workers.submit(() -> append(random)));
            }
            for (Future<?> writer : writers) {
                writer.get();
            }
            for (Future<List<Long>> watcher : watchers) {
                assertThat(watcher.get())
                        .isEqualTo(LongStream.rangeClosed(1, LAST).boxed().toList());
            }
        }
    }

    private void append(Random random) {
        for (int i = 0; i < EVENTS; i++) {
            appendOne(random);
        }
    }

    /// Appends a small or a large event, and sometimes the same event twice.
    private void appendOne(Random random) {
        String body = "{\"event_type\":\"step\",\"event_id\":\"" + Long.toHexString(random.nextLong())
                + "\",\"event_data\":{\"text\":\"" + "x".repeat(random.nextInt(20) == 0 ? 60_000 : 10) + "\"}}";
        String path = "/api/v1/sandboxes/" + session + "/events";
        assertThat(api.post(path, body).status()).isEqualTo(201);
        if (random.nextInt(10) == 0) {
            assertThat(api.post(path, body).status()).isEqualTo(200);
        }
    }

    private List<Long> watch(Random random) {
        var seen = new ArrayList<Long>();
        while (seen.size() < LAST) {
            long after = seen.isEmpty() ? 0 : seen.getLast();
            try (var watcher = connect(after, random)) {
                int eventsUntilDisconnect = 1 + random.nextInt(random.nextBoolean() ? 8 : 200);
                for (int i = 0; i < eventsUntilDisconnect && seen.size() < LAST; i++) {
                    seen.add(watcher.await("event").integer("seq"));
                }
            }
        }
        return seen;
    }

    /// Authenticates in a header or in the first message, at random.
    private ShellClient connect(long after, Random random) {
        String path = "/ws/sandboxes/" + session;
        if (random.nextBoolean()) {
            return ShellClient.open(
                    SERVER.get().uri(), path + "?after_seq=" + after, Reading.ALWAYS, "X-API-Key", api.key());
        }
        return ShellClient.open(SERVER.get().uri(), path, Reading.ALWAYS).auth(api.key(), "\"after_seq\":" + after);
    }
}
