package dev.vivarium.core.guard.trajectory;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.run.Agents;
import dev.vivarium.core.run.Inbox;
import dev.vivarium.core.run.ReasonCode;
import dev.vivarium.core.run.Reviews;
import dev.vivarium.core.sandbox.PauseReason;
import dev.vivarium.model.Message;
import dev.vivarium.model.MessageEvent;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.NewMessage;
import dev.vivarium.model.NewReview;
import dev.vivarium.model.Review;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxId;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;

/// Operations of the guardian and the conductor on runs, recorded in the audit log. Each has the same effect if it is
/// repeated. Thread-safe.
public final class GuardianActions {
    static final String GUARDIAN = "guardian";

    private static final int ACCEPTED = 202;

    private final RunControl control;
    private final Inbox inbox;
    private final Reviews reviews;
    private final Audit audit;
    private final InstantSource clock;

    /// Control of workers. [#of] returns that of the server.
    public interface RunControl {
        /// Asks the worker to hold its agent.
        void hold(SandboxId sandbox);

        /// Resumes an agent that is held.
        void release(SandboxId sandbox);

        void stop(Run run, String reason);

        static RunControl of(Agents agents) {
            return new RunControl() {
                @Override
                public void hold(SandboxId sandbox) {
                    agents.hold(sandbox);
                }

                @Override
                public void release(SandboxId sandbox) {
                    agents.release(sandbox);
                }

                @Override
                public void stop(Run run, String reason) {
                    var why = PauseReason.by(AuditEntry.system(GUARDIAN));
                    agents.stop(run, why, ReasonCode.GUARDIAN, Optional.of(reason));
                }
            };
        }
    }

    public GuardianActions(RunControl control, Inbox inbox, Reviews reviews, Audit audit, InstantSource clock) {
        this.control = control;
        this.inbox = inbox;
        this.reviews = reviews;
        this.audit = audit;
        this.clock = clock;
    }

    /// Sends a message to the agent of a run.
    ///
    /// @param part name of the part of the server that sends it
    /// @param key  messages of a run with the same key are one message
    void nudge(Run run, String part, String key, String text) {
        String id = NewEvent.OUR_IDS + run.id() + "." + part + "." + key;
        var message = new NewMessage(text, Message.Kind.GUARDIAN_NUDGE, part);
        var body = new MessageEvent.Posted(
                Inbox.idOf(run.sandbox(), id), message.kind(), message.content(), message.mode());
        inbox.post(run.sandbox(), message, new NewEvent(Optional.of(id), body, part));
        record(run, part, "POST /api/v1/sandboxes/{id}/messages", text);
    }

    /// Holds the agent of a run and asks a person about it.
    Review ask(Run run, GuardianAction.Ask question) {
        control.hold(run.sandbox());
        Review review = reviews.ask(
                run,
                new NewReview(question.reason(), question.description(), "{}", List.of(), true),
                Optional.of(run.id() + "." + GUARDIAN + "." + question.number()));
        record(run, GUARDIAN, "POST /api/v1/sandboxes/{id}/pause", question.reason());
        return review;
    }

    Optional<Review> review(SandboxId sandbox, String id) {
        return Optional.of(reviews.require(sandbox, id));
    }

    /// Resumes the agent of a run.
    void release(Run run) {
        control.release(run.sandbox());
        record(run, GUARDIAN, "POST /api/v1/sandboxes/{id}/resume", "");
    }

    void stop(Run run, String reason) {
        control.stop(run, reason);
        record(run, GUARDIAN, "POST /api/v1/runs/{run_id}/cancel", reason);
    }

    private void record(Run run, String part, String route, String detail) {
        audit.record(AuditEntry.of(clock.instant(), AuditEntry.Kind.USED, ACCEPTED, route)
                .bySystem(part)
                .on(run.sandbox(), run.key())
                .detail(Excerpt.of(detail, 200)));
    }
}
