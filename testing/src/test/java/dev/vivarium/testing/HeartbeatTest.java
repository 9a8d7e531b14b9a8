package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.testing.ShellClient.Reading;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/// Whoever wants nothing of what happens, while much does, still hears that the server is there.
class HeartbeatTest {
    private static final Duration OFTEN = Duration.ofMillis(300);

    @Test
    void aSocketBeatsWhetherNothingHappensOrNothingOfItIsWanted() throws Exception {
        try (var server =
                TestServer.start(config -> config.withWatch(config.watch().withHeartbeat(OFTEN)))) {
            Api api = server.api();
            String session = api.session();
            for (String path : new String[] {"/ws/sandboxes/" + session, "/api/v1/ws/events"}) {
                String beat = path.endsWith("events") ? "ping" : "heartbeat";
                try (var quiet = listen(server, path, "");
                        var deaf = listen(server, path, "\"event_types\":[\"never\"]")) {
                    quiet.await(beat);

                    var heard = new AtomicBoolean();
                    Thread noise = Thread.ofVirtual().start(() -> {
                        while (!heard.get()) {
                            api.post("/api/v1/sandboxes/" + session + "/events", "{\"event_type\":\"noise\"}");
                        }
                    });
                    try {
                        for (int beats = 0; beats < 3; ) {
                            String type = deaf.next().string("type");
                            // One that falls behind is told so, whatever it wants.
                            assertThat(type).isIn(beat, "missed");
                            beats += type.equals(beat) ? 1 : 0;
                        }
                    } finally {
                        heard.set(true);
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
