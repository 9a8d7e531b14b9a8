package dev.vivarium.core.guard.trajectory;

import dev.vivarium.core.run.Money;
import dev.vivarium.core.store.Db;
import java.math.BigDecimal;
import java.time.InstantSource;
import java.time.ZoneOffset;

/// Budget of the judge for one day in UTC, in the store. Thread-safe.
public final class JudgeBudget {
    private final Db db;
    private final BigDecimal dollarsPerDay;
    private final InstantSource clock;

    public JudgeBudget(Db db, BigDecimal dollarsPerDay, InstantSource clock) {
        this.db = db;
        this.dollarsPerDay = dollarsPerDay;
        this.clock = clock;
    }

    public boolean isSpent() {
        long spent = db.read(sql -> sql.number("select cost_nanos from guardian_costs where day = ?", day()));
        return spent >= Money.nanos(dollarsPerDay);
    }

    public void spend(BigDecimal dollars) {
        db.write(sql -> sql.update(
                "insert into guardian_costs (day, cost_nanos) values (?, ?) on conflict (day)"
                        + " do update set cost_nanos = guardian_costs.cost_nanos + excluded.cost_nanos",
                day(),
                Money.nanos(dollars)));
    }

    private String day() {
        return clock.instant().atZone(ZoneOffset.UTC).toLocalDate().toString();
    }
}
