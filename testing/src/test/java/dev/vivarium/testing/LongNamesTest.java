package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.List;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Paths longer than the store can index or the kernel accepts do not stop the file watch. Names are random, because
/// the store compresses repetitive ones.
class LongNamesTest {
    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with();

    private final Api api = SERVER.api();
    private final String session = api.session();

    @ParameterizedTest
    @ValueSource(ints = {15, 25})
    void longPathsAreCountedAndOtherFilesStillReported(int depth) {
        api.execute(session, "echo x > first");
        awaitNamed("file.created", "first");
        String descend = "for i in $(seq " + depth + "); do"
                + " d=$(head -c 400 /dev/urandom | base64 -w 0 | tr -d '/+=' | head -c 200); mkdir $d && cd $d; done;"
                + " echo x > deep";
        assertThat(api.execute(session, "(" + descend + "); echo y > second").integer("exit_code"))
                .isZero();

        awaitNamed("file.created", "second");
        await().untilAsserted(() -> assertThat(types()).contains("file.changes_folded"));
        SERVER.get().restart();
        Api again = SERVER.api();
        again.execute(session, "echo z > second; echo x > third");
        awaitNamed("file.created", "third");
        awaitNamed("file.modified", "second");
    }

    private void awaitNamed(String type, String path) {
        await().untilAsserted(() -> assertThat(events("&type=" + type)).contains("\"path\":\"" + path + "\""));
    }

    private List<String> types() {
        return SERVER
                .api()
                .get("/api/v1/sandboxes/" + session + "/events?limit=1000&type=file.")
                .json()
                .objects("events")
                .stream()
                .map(event -> event.string("event_type"))
                .toList();
    }

    private String events(String query) {
        return SERVER.api()
                .get("/api/v1/sandboxes/" + session + "/events?limit=1000" + query)
                .text();
    }
}
