package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.json.JsonFields;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Pages of a log from its end backwards.
class EventPagesTest {
    private static final int ADDED = 25;

    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with();

    private final Api api = SERVER.api();
    private final String path = "/api/v1/sandboxes/" + api.session() + "/events";

    EventPagesTest() {
        String events = IntStream.range(0, ADDED)
                .mapToObj(i -> "{\"event_type\":\"agent." + (i % 2 == 0 ? "even" : "odd") + "\"}")
                .collect(Collectors.joining(",", "[", "]"));
        assertThat(api.post(path, events).status()).isEqualTo(201);
    }

    @Test
    void newestPageIsInOrderAndStatesTheBoundsOfTheLog() {
        JsonFields page = get("?newest=true&limit=10");
        long head = page.integer("head_seq");

        assertThat(seqs(page)).isEqualTo(numbers(head - 9, head));
        assertThat(page.integer("first_seq")).isEqualTo(1);
        assertThat(page.integer("next_after_seq")).isEqualTo(head);
    }

    @Test
    void backwardPagesHaveNoGap() {
        JsonFields page = get("?newest=true&limit=7");
        long head = page.integer("head_seq");
        List<Long> all = seqs(page);
        while (!seqs(page).isEmpty()) {
            page = get("?before_seq=" + all.getFirst() + "&limit=7");
            var joined = new ArrayList<>(seqs(page));
            joined.addAll(all);
            all = joined;
        }

        assertThat(all).isEqualTo(numbers(1, head));
    }

    @Test
    void pageIsBoundedBySequenceNumbersAndType() {
        assertThat(seqs(get("?after_seq=4&before_seq=9"))).containsExactly(5L, 6L, 7L, 8L);
        assertThat(seqs(get("?after_seq=4&before_seq=9&limit=2"))).containsExactly(7L, 8L);
        JsonFields odd = get("?newest=true&type=agent.odd&limit=3");
        assertThat(odd.objects("events"))
                .hasSize(3)
                .allSatisfy(event -> assertThat(event.string("event_type")).isEqualTo("agent.odd"));
        assertThat(seqs(get("?before_seq=1"))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"?before_seq=0", "?before_seq=-1", "?before_seq=x", "?newest=yes"})
    void invalidPositionIsRejected(String query) {
        assertThat(api.get(path + query).status()).isEqualTo(400);
    }

    @Test
    void streamRejectsBeforeSeq() {
        var answer = Api.send(api.request(path + "?before_seq=5")
                .header("Accept", "text/event-stream")
                .GET());

        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.json().string("field")).isEqualTo("before_seq");
    }

    private JsonFields get(String query) {
        var answer = api.get(path + query);
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json();
    }

    private static List<Long> seqs(JsonFields page) {
        return page.objects("events").stream()
                .map(event -> event.integer("seq"))
                .toList();
    }

    private static List<Long> numbers(long first, long last) {
        return LongStream.rangeClosed(first, last).boxed().toList();
    }
}
