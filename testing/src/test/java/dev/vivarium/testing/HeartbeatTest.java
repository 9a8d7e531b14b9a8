package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.testing.ShellClient.Reading;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/// Heartbeats of sockets, with and without events that the filter drops.
class HeartbeatTest {
    private static final Duration INTERVAL = Duration.ofMillis(300);

    @Test
    void socketSendsHeartbeatsWhenIdleAndWhenAllEventsAreFiltered() throws Exception {
        try (var server =
                TestServer.start(config -> config.withWatch(config.watch().withHeartbeat(INTERVAL)))) {
            Api api = server.api();
            String session = api.session();
            for (String path : new String[] {"/ws/sandboxes/" + session, "/api/v1/ws/events"}) {
                String beat = path.endsWith("events") ? "ping" : "heartbeat";
                try (var idle = listen(server, path, "");
                        var filtered = listen(server, path, "\"event_types\":[\"never\"]")) {
                    idle.await(beat);

                    var done = new AtomicBoolean();
                    Thread noise = Thread.ofVirtual().start(() -> {
                        while (!done.get()) {
                            api.post("/api/v1/sandboxes/" + session + "/events", "{\"event_type\":\"noise\"}");
                        }
                    });
                    try {
                        for (int beats = 0; beats < 3; ) {
                            String type = filtered.next().string("type");
                            // A socket that falls behind receives `missed`, whatever its filter is.
                            assertThat(type).isIn(beat, "missed");
                            beats += type.equals(beat) ? 1 : 0;
                        }
                    } finally {
                        done.set(true);
                        noise.join();
                    }
                }
            }
        }
    }

    private static ShellClient listen(TestServer server, String path, String more) {
        var client = ShellClient.open(server.uri(), path, Reading.ALWAYS);
        client.auth(server.adminKey(), more).await("connected");
        return client;
    }
}
