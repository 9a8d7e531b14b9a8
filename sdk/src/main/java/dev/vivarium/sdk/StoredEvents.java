package dev.vivarium.sdk;

import dev.vivarium.sdk.http.Transport;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.NoSuchElementException;

/// Pages of an event log up to its present end. Confined to one thread.
final class StoredEvents implements EventStream {
    private static final int PAGE = 1000;

    private final Transport transport;
    private final String path;
    private final Deque<SandboxEvent> page = new ArrayDeque<>();
    private long after;
    private boolean finished;

    StoredEvents(Transport transport, String path, long after) {
        this.transport = transport;
        this.path = path;
        this.after = after;
    }

    /// The server limits the size of a page in bytes too, so only an empty page is the last one.
    @Override
    public boolean hasNext() {
        if (page.isEmpty() && !finished) {
            List<SandboxEvent> next = transport.get(
                    path + "limit=" + PAGE + "&after_seq=" + after,
                    fields -> fields.objects("events").stream()
                            .map(SandboxEvent::read)
                            .toList());
            page.addAll(next);
            finished = next.isEmpty();
        }
        return !page.isEmpty();
    }

    @Override
    public SandboxEvent next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        SandboxEvent event = page.remove();
        after = event.seq();
        return event;
    }

    @Override
    public void close() {
        finished = true;
    }
}
