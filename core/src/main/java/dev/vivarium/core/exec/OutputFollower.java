package dev.vivarium.core.exec;

import dev.vivarium.core.LoopBudget;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.Exit;
import java.time.Duration;

/// One reader of a detached process's output. Holds nothing: dropping it is enough. Confined to one worker.
public final class OutputFollower {
    private final OutputRing tail;
    private final ManagedProcess process;
    private final LoopBudget budget = new LoopBudget();
    private long place;

    OutputFollower(OutputRing tail, ManagedProcess process) {
        this.tail = tail;
        this.process = process;
    }

    /// What a reader meets.
    public sealed interface News {
        /// Bytes of one stream; `missed` bytes before them were lost, because they are too long ago or the
        /// reader was too slow.
        record Output(ExecEvent.Stream stream, byte[] bytes, long missed) implements News {}

        /// Nothing came for as long as the reader was willing to wait.
        record Quiet() implements News {}

        /// The end; nothing follows.
        record Exited(Exit exit) implements News {}
    }

    /// Waits for what comes next, at most as long as this. Throws the failure by which the process was lost.
    public News next(Duration patience) {
        budget.blocks();
        var found = tail.next(place, patience);
        budget.spend(found.map(piece -> piece.bytes().length).orElse(0));
        if (found.isPresent()) {
            place = found.get().next();
            return new News.Output(
                    found.get().stream(), found.get().bytes(), found.get().missed());
        }
        // Asked in this order: a process is marked as ended before its output is.
        return tail.isOver(place)
                ? process.exit().<News>map(News.Exited::new).orElseGet(News.Quiet::new)
                : new News.Quiet();
    }
}
