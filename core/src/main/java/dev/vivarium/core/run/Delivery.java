package dev.vivarium.core.run;

import dev.vivarium.model.Message;
import java.time.Duration;
import java.util.List;

/// How the messages of one sandbox come to one reader, page after page. Confined to the worker that serves the reader.
public interface Delivery {
    /// What waits, a page of it and interrupts first; waits at most `patience` for the first of it.
    List<Message> next(Duration patience) throws InterruptedException;

    /// The first `count` of a page were passed on to the reader; the rest could not be, and wait on.
    void passed(List<Message> page, int count);
}
