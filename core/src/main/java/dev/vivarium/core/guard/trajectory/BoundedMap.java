package dev.vivarium.core.guard.trajectory;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/// Map with a maximum size that drops the entry that was changed least recently. Confined to one thread.
final class BoundedMap<V> {
    private final int max;
    private final Map<String, V> entries = new LinkedHashMap<>();

    BoundedMap(int max) {
        this.max = max;
    }

    Optional<V> find(String key) {
        return Optional.ofNullable(entries.get(key));
    }

    /// Adds or replaces an entry, as the newest.
    void put(String key, V value) {
        entries.remove(key);
        if (entries.size() >= max) {
            entries.remove(entries.keySet().iterator().next());
        }
        entries.put(key, value);
    }

    void remove(String key) {
        entries.remove(key);
    }

    void clear() {
        entries.clear();
    }

    void replaceAll(UnaryOperator<V> change) {
        entries.replaceAll((_, value) -> change.apply(value));
    }

    /// Returns the entries, the least recently changed first.
    Map<String, V> all() {
        return entries;
    }
}
