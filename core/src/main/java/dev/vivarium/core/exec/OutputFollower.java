package dev.vivarium.core.exec;

import dev.vivarium.core.LoopBudget;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.Exit;
import java.time.Duration;

/// Reader of the output of a detached process. Needs no close. Confined to one thread.
public final class OutputFollower {
    private final OutputRing tail;
    private final ManagedProcess process;
    private final LoopBudget budget = new LoopBudget();
    private long place;

    OutputFollower(OutputRing tail, ManagedProcess process) {
        this.tail = tail;
        this.process = process;
    }

    /// Result of a read.
    public sealed interface News {
        /// Bytes of one stream. `missed` bytes before them were lost, because they were too old or the reader
        /// was too slow.
        record Output(ExecEvent.Stream stream, byte[] bytes, long missed) implements News {}

        /// No output arrived before the timeout.
        record Quiet() implements News {}

        /// The last result.
        record Exited(Exit exit) implements News {}
    }

    /// Waits for the next result, at most this long. Throws the failure if the process was lost.
    public News next(Duration timeout) {
        budget.blocks();
        var found = tail.next(place, timeout);
        budget.spend(found.map(piece -> piece.bytes().length).orElse(0));
        if (found.isPresent()) {
            place = found.get().next();
            return new News.Output(
                    found.get().stream(), found.get().bytes(), found.get().missed());
        }
        // The order matters: a process is marked as ended before its output is.
        return tail.isOver(place)
                ? process.exit().<News>map(News.Exited::new).orElseGet(News.Quiet::new)
                : new News.Quiet();
    }
}
