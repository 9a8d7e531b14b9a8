package dev.vivarium.core.run;

import dev.vivarium.model.Message;
import dev.vivarium.model.SandboxId;
import java.time.Duration;
import java.util.List;

/// Delivery to a reader that does not acknowledge messages: a sent message counts as delivered. Thread-safe.
final class AutoAckDelivery implements Delivery {
    private final Inbox inbox;
    private final SandboxId sandbox;

    AutoAckDelivery(Inbox inbox, SandboxId sandbox) {
        this.inbox = inbox;
        this.sandbox = sandbox;
    }

    @Override
    public List<Message> next(Duration timeout) throws InterruptedException {
        return inbox.take(sandbox, timeout);
    }

    /// Puts back the unsent messages first, so that a failure of the log does not lose them.
    @Override
    public void passed(List<Message> page, int count) {
        List<Message> left = page.subList(count, page.size());
        if (!left.isEmpty()) {
            inbox.putBack(sandbox, left);
        }
        inbox.delivered(sandbox, page.subList(0, count));
    }
}
