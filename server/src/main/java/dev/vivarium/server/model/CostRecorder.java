package dev.vivarium.server.model;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.vivarium.core.access.WorkerGrant;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.run.Budget;
import dev.vivarium.core.run.Runs;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.RunEvent;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.Usage;
import dev.vivarium.server.telemetry.Telemetry;
import java.math.BigDecimal;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Accounting of model calls: the budget of the run, the log of the sandbox, and the metrics. Thread-safe.
public final class CostRecorder {
    private static final Logger LOG = LoggerFactory.getLogger(CostRecorder.class);
    private static final String SOURCE = "gateway";

    private final Runs runs;
    private final EventLog log;
    private final Telemetry telemetry;
    private final Reservations reservations = new Reservations();

    public CostRecorder(Runs runs, EventLog log, Telemetry telemetry) {
        this.runs = runs;
        this.log = log;
        this.telemetry = telemetry;
    }

    /// Outcome of one model call. Immutable.
    ///
    /// @param status HTTP status of the response to the agent
    record Call(Usage usage, boolean isEstimated, int status, Duration took) {}

    /// Returns the budget of a run. Throws [ModelError] if the budget is spent or the run does not exist.
    @CanIgnoreReturnValue
    Budget requireFunds(WorkerGrant.Work work) throws ModelError {
        try {
            Budget allowance = runs.allowance(work.sandbox(), work.task());
            if (allowance.isSpent()) {
                throw new ModelError(
                        ModelError.Kind.SPENT,
                        "the budget of this run is spent: $"
                                + allowance.spentUsd().toPlainString() + " of $"
                                + allowance.budgetUsd().orElseThrow().toPlainString());
            }
            return allowance;
        } catch (SandboxException e) {
            throw new ModelError(ModelError.Kind.REFUSED, e.failure().sentence());
        }
    }

    /// Reserves the worst case of a call, so that parallel calls do not exceed the budget together. Close the
    /// result after [#enter].
    Reservations.Reservation reserve(WorkerGrant.Work work, BigDecimal worstCase, Duration timeout)
            throws ModelError, InterruptedException {
        return reservations.reserve(work, worstCase, () -> requireFunds(work), timeout);
    }

    /// Logs the start of a call, so that a model that does not answer is visible.
    void begin(WorkerGrant.Work work, String model) {
        log.note(work.sandbox(), NewEvent.of(new RunEvent.ModelCallStarted(model), SOURCE));
    }

    /// Records a call durably. It charges the run first, because the charge can end the run.
    void enter(WorkerGrant.Work work, Call call) {
        SandboxId sandbox = work.sandbox();
        Usage usage = call.usage();
        try {
            if (usage.costUsd().signum() > 0 || usage.inputTokens() + usage.outputTokens() > 0) {
                runs.charge(sandbox, work.task(), usage);
            }
            var body = new RunEvent.ModelCalled(usage, call.took(), call.status(), call.isEstimated());
            log.append(sandbox, NewEvent.of(body, SOURCE));
        } catch (SandboxException e) {
            LOG.warn("sandbox {}: a call of {} was not charged: {}", sandbox, usage.model(), e.getMessage());
        }
        telemetry.modelCalled(usage, call.status(), call.took());
    }
}
