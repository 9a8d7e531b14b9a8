package dev.vivarium.bench;

import dev.vivarium.json.JsonFields;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Record of the writes that a server acknowledged, for a comparison with its data. Thread-safe.
final class Ledger {
    private final Map<String, Map<String, Long>> events = new HashMap<>();
    private final Set<String> said = new HashSet<>();
    private final Map<String, Integer> received = new HashMap<>();
    private final List<String> wrong = new ArrayList<>();
    private long count;

    /// Records that an event of a sandbox is durable under this number.
    synchronized void appended(String sandbox, String id, long seq) {
        count++;
        events.computeIfAbsent(sandbox, _ -> new HashMap<>()).put(id, seq);
    }

    /// Records that the server accepted a message.
    synchronized void said(String message) {
        said.add(message);
    }

    /// Records that a message was read.
    synchronized void received(String message) {
        received.merge(message, 1, Integer::sum);
    }

    synchronized void wrong(String what) {
        wrong.add(what);
    }

    /// Returns the number of acknowledged events.
    synchronized long count() {
        return count;
    }

    /// Returns the messages that the server accepted and the reader never received.
    synchronized List<String> undelivered() {
        return said.stream().filter(message -> !received.containsKey(message)).toList();
    }

    synchronized int messages() {
        return said.size();
    }

    /// Returns the number of redelivered messages, counted by their ids.
    synchronized long repeated() {
        return received.values().stream().mapToLong(times -> times - 1L).sum();
    }

    /// Compares a whole log, in its order, with the acknowledged events.
    synchronized void check(String sandbox, List<JsonFields> log) {
        Map<String, Long> found = new HashMap<>();
        long next = 1;
        for (JsonFields event : log) {
            long seq = event.integer("seq");
            if (seq != next) {
                wrong.add("a gap in " + sandbox + ": " + seq + " instead of " + next);
            }
            next = seq + 1;
            if (found.put(event.string("id"), seq) != null) {
                wrong.add("twice in " + sandbox + ": " + event.string("id"));
            }
        }
        events.getOrDefault(sandbox, Map.of()).forEach((id, seq) -> {
            if (!seq.equals(found.get(id))) {
                wrong.add("acknowledged as " + seq + " in " + sandbox + ", and there as " + found.get(id) + ": " + id);
            }
        });
    }

    synchronized List<String> wrong() {
        return List.copyOf(wrong);
    }
}
