package dev.vivarium.server.operation;

import dev.vivarium.core.access.Grant;
import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Threads;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.Failure;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.UserId;
import dev.vivarium.server.access.ThreadAccess;
import java.time.Duration;

/// Operation that creates the sandbox of a thread, or returns the existing one. Thread-safe.
public final class CreateSandbox {
    private final Sandboxes sandboxes;
    private final Threads threads;
    private final SandboxRule rule;
    private final Duration lease;

    /// @param lease idle timeout of sandboxes that are created by [#forThread]
    public CreateSandbox(Sandboxes sandboxes, Threads threads, SandboxRule rule, Duration lease) {
        this.sandboxes = sandboxes;
        this.threads = threads;
        this.rule = rule;
        this.lease = lease;
    }

    /// @param created false if the thread had the sandbox already
    public record Result(SandboxInfo sandbox, boolean created) {}

    /// Returns the rule that requests must follow.
    public SandboxRule rule() {
        return rule;
    }

    public Result create(Principal caller, NewSandbox request) {
        requireMayActFor(caller, request.user());
        rule.check(request);
        var opened = sandboxes.open(request);
        return new Result(opened.sandbox().info(), opened.created());
    }

    /// Creates a sandbox for a caller with a right in the thread. Only the owner of the thread may choose options
    /// of the sandbox. An existing sandbox must have the chosen options.
    public Result forThread(ThreadAccess access, NewSandbox wanted) {
        var ordinary = NewSandbox.of(wanted.user(), wanted.thread());
        var plain = wanted.onIdle().map(ordinary::withOnIdle).orElse(ordinary);
        if (!wanted.equals(plain) && access.standing() == Grant.Standing.MEMBER) {
            throw new SandboxException(new Failure.NotAllowed("only the owner of the thread chooses its sandbox"));
        }
        rule.check(wanted);
        var opened = sandboxes.open(wanted.idleTimeout().isPresent() ? wanted : wanted.withIdleTimeout(lease));
        if (opened.created()) {
            threads.revive(access.key());
        } else {
            opened.sandbox().findDifference(wanted).ifPresent(CreateSandbox::refuseChange);
        }
        return new Result(opened.sandbox().info(), opened.created());
    }

    private static void refuseChange(String option) {
        String way = option.equals("egress")
                ? "change it with PUT /threads/{thread_id}/egress"
                : "leave it out, or end the sandbox first";
        throw SandboxException.invalid(option, "is chosen when the sandbox is made; " + way);
    }

    /// Fails with [Failure.NotAllowed] if the caller may not own sandboxes as `user`.
    public static void requireMayActFor(Principal caller, UserId user) {
        if (!caller.mayActFor(user)) {
            throw new SandboxException(new Failure.NotAllowed("a user's key acts for its own user_id only"));
        }
    }
}
