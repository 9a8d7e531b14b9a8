package dev.vivarium.core.run;

import dev.vivarium.model.Message;
import java.time.Duration;
import java.util.List;

/// Delivery of the messages of one sandbox to one reader, in pages. Confined to the thread that serves the reader.
public interface Delivery {
    /// Returns a page of waiting messages, interrupts first. Waits at most `timeout` for the first.
    List<Message> next(Duration timeout) throws InterruptedException;

    /// The first `count` messages of a page were sent to the reader. The others wait on.
    void passed(List<Message> page, int count);
}
