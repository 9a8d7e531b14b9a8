package dev.vivarium.server.operation;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.Failure;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.UserId;

/// Creates the sandbox of a thread, or returns the one that the thread has. Thread-safe.
public final class CreateSandbox {
    private final Sandboxes sandboxes;
    private final SandboxRule rule;

    public CreateSandbox(Sandboxes sandboxes, SandboxRule rule) {
        this.sandboxes = sandboxes;
        this.rule = rule;
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

    /// Fails with [Failure.NotAllowed] if the caller may not own sandboxes as `user`.
    public static void requireMayActFor(Principal caller, UserId user) {
        if (!caller.mayActFor(user)) {
            throw new SandboxException(new Failure.NotAllowed("a user's key acts for its own user_id only"));
        }
    }
}
