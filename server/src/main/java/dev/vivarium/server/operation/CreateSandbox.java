package dev.vivarium.server.operation;

import dev.vivarium.core.access.Grant;
import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Threads;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.Egress;
import dev.vivarium.model.Failure;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.UserId;
import dev.vivarium.server.access.ThreadAccess;
import java.time.Duration;
import java.util.Optional;

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

    /// Creates a sandbox for a caller with a right in the thread. Only the owner of the thread may choose the
    /// egress. The egress of an existing sandbox must be the same.
    public Result forThread(ThreadAccess access, Optional<Egress> egress) {
        if (egress.isPresent() && access.standing() == Grant.Standing.MEMBER) {
            throw new SandboxException(new Failure.NotAllowed("only the owner of the thread decides on its egress"));
        }
        var plain = NewSandbox.of(access.owner(), access.thread()).withIdleTimeout(lease);
        var opened = sandboxes.open(egress.map(plain::withEgress).orElse(plain));
        if (opened.created()) {
            threads.revive(access.thread());
        } else if (egress.isPresent()
                && !opened.sandbox().sandboxEgress().allowed().equals(egress.get())) {
            throw new SandboxException(new Failure.InvalidRequest(
                    "egress", "is chosen when the sandbox is made; change it with PUT /threads/{thread_id}/egress"));
        }
        return new Result(opened.sandbox().info(), opened.created());
    }

    /// Fails with [Failure.NotAllowed] if the caller may not own sandboxes as `user`.
    public static void requireMayActFor(Principal caller, UserId user) {
        if (!caller.mayActFor(user)) {
            throw new SandboxException(new Failure.NotAllowed("a user's key acts for its own user_id only"));
        }
    }
}
