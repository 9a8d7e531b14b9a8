package dev.vivarium.core.access;

import dev.vivarium.core.access.Watch.Ended;
import dev.vivarium.model.SandboxId;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Predicate;

/// Who wants to know when which token ends. Thread-safe.
final class Watches {
    private final Map<SandboxId, Set<Watch>> bySandbox = new ConcurrentHashMap<>();

    Watch add(Grant grant, Set<Ended> reasons, Consumer<Ended> listener) {
        var watch = new Watch(this, grant, reasons, listener);
        bySandbox.compute(grant.sandbox(), (_, present) -> {
            Set<Watch> watches = present == null ? ConcurrentHashMap.newKeySet() : present;
            watches.add(watch);
            return watches;
        });
        return watch;
    }

    void remove(Watch watch) {
        bySandbox.computeIfPresent(watch.grant().sandbox(), (_, watches) -> {
            watches.remove(watch);
            return watches.isEmpty() ? null : watches;
        });
    }

    /// Tells those of one sandbox whose token is one of `which`.
    void tell(SandboxId sandbox, Predicate<Grant> which, Ended why) {
        tell(bySandbox.getOrDefault(sandbox, Set.of()), which, why);
    }

    /// Tells those of every sandbox.
    void tellAll(Predicate<Grant> which, Ended why) {
        bySandbox.values().forEach(watches -> tell(watches, which, why));
    }

    private static void tell(Set<Watch> watches, Predicate<Grant> which, Ended why) {
        for (Watch watch : Set.copyOf(watches)) {
            if (which.test(watch.grant())) {
                watch.tell(why);
            }
        }
    }
}
