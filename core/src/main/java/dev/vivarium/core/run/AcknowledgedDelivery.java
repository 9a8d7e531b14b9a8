package dev.vivarium.core.run;

import dev.vivarium.model.Message;
import dev.vivarium.model.SandboxId;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/// Delivery to a reader that acknowledges messages. Confined to the thread that serves the reader.
///
/// A connection gets each message once. The message waits until it is acknowledged; a new connection gets it again.
final class AcknowledgedDelivery implements Delivery {
    private final Inbox inbox;
    private final SandboxId sandbox;

    /// Sent messages that may still wait.
    private final Set<String> shown = new HashSet<>();

    private final Predicate<Message> mayHave;

    /// @param mayHave claims a message for this kind of reader
    AcknowledgedDelivery(Inbox inbox, SandboxId sandbox, Predicate<Message> mayHave) {
        this.inbox = inbox;
        this.sandbox = sandbox;
        this.mayHave = mayHave;
    }

    @Override
    public List<Message> next(Duration timeout) throws InterruptedException {
        return inbox.await(sandbox, timeout, this::readPending);
    }

    private List<Message> readPending() {
        // Enough for a page after all sent messages.
        int max = shown.size() + Inbox.AT_ONCE;
        List<Message> waiting = inbox.list(sandbox, max);
        if (waiting.size() < max) {
            shown.retainAll(waiting.stream().map(Message::id).collect(Collectors.toSet()));
        }
        return waiting.stream()
                .filter(message -> !shown.contains(message.id()) && mayHave.test(message))
                .limit(Inbox.AT_ONCE)
                .toList();
    }

    @Override
    public void passed(List<Message> page, int count) {
        page.subList(0, count).forEach(message -> shown.add(message.id()));
    }
}
