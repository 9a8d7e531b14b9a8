package dev.vivarium.core.guard.liveness;

import dev.vivarium.core.log.EventReader;
import dev.vivarium.core.run.Restarts;
import dev.vivarium.core.run.Runs;
import dev.vivarium.core.store.Sql;
import dev.vivarium.model.Event;
import dev.vivarium.model.EventCodec;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunEvent;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/// Durable reader of the log that stores the activity of runs and decides about their abnormal ends. Thread-safe.
///
/// @param ended called after the commit with the decision about a run that ended, if there is one
record LivenessReader(EventCodec codec, Runs runs, Restarts restarts, Consumer<Optional<Restarts.Entry>> ended)
        implements EventReader.Handler {
    private static final String RUN_ENDED = "sandbox.run_ended";

    @Override
    public Set<String> types() {
        var types = new HashSet<>(Activity.WORK);
        types.addAll(Activity.INPUT);
        types.add(RUN_ENDED);
        return types;
    }

    @Override
    public void handle(Sql sql, Event event) throws SQLException {
        if (event.type().equals(RUN_ENDED)) {
            Optional<Run> run =
                    codec.decode(event) instanceof RunEvent.Ended end ? runs.find(sql, end.run()) : Optional.empty();
            if (run.isPresent()) {
                restarts.judge(sql, run.get());
            }
        } else if (event.sandbox().isPresent()) {
            Activity.record(sql, event.sandbox().get(), event);
        }
    }

    @Override
    public void committed(Event event) {
        if (event.type().equals(RUN_ENDED) && codec.decode(event) instanceof RunEvent.Ended end) {
            ended.accept(restarts.find(end.run()));
        }
    }
}
