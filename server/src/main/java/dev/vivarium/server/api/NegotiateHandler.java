package dev.vivarium.server.api;

import dev.vivarium.core.access.Grant;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.access.Threads;
import dev.vivarium.core.access.TokenRequest;
import dev.vivarium.core.access.Tokens;
import dev.vivarium.core.sandbox.OpenResult;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.json.EgressJson;
import dev.vivarium.model.Egress;
import dev.vivarium.model.Failure;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import dev.vivarium.server.access.ThreadAccess;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// `POST /threads/{thread_id}/sandbox`: gives the thread a sandbox if it has none, and the caller a token for it.
/// Thread-safe.
public final class NegotiateHandler {
    /// What is granted to those who do not say.
    private static final Scopes ORDINARY = Scopes.of(Scope.FS_RW, Scope.SHELL, Scope.PROCESS);

    private final Sandboxes sandboxes;
    private final ThreadCallers callers;
    private final Tokens tokens;
    private final Threads threads;
    private final TokenAnswer answer;
    private final Duration lease;

    public NegotiateHandler(
            Sandboxes sandboxes,
            ThreadCallers callers,
            Tokens tokens,
            Threads threads,
            TokenAnswer answer,
            Duration lease) {
        this.sandboxes = sandboxes;
        this.callers = callers;
        this.tokens = tokens;
        this.threads = threads;
        this.answer = answer;
        this.lease = lease;
    }

    public void handle(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var thread = new ThreadId(exchange.path("thread_id"));
        var fields = exchange.optionalJson();
        // A hint for clients that come back: a thread has one sandbox, and the answer says which.
        fields.optionalString("sandbox_id");
        var wanted = TokenAnswer.scopes(fields).orElse(ORDINARY);
        var ttl = TokenAnswer.ttl(fields);
        var user = fields.optionalString("user_id").map(UserId::new);
        var egress = EgressJson.readOptional(fields);
        fields.refuseOthers();
        var visit = callers.enter(exchange.principal(), thread, user);
        var granted = TokenAnswer.granted(wanted, visit.scopes());
        var opened = open(visit, egress);
        var issued = tokens.issue(new TokenRequest(
                visit.subject(), visit.standing(), opened.sandbox().id(), thread, granted, ttl, List.of()));
        answer.send(exchange, issued, "", out -> out.writeBooleanProperty("created", opened.created()));
    }

    private OpenResult open(ThreadAccess visit, Optional<Egress> egress) {
        if (egress.isPresent() && visit.standing() == Grant.Standing.MEMBER) {
            throw new SandboxException(new Failure.NotAllowed("only the owner of the thread decides on its egress"));
        }
        var plain = NewSandbox.of(visit.owner(), visit.thread()).withIdleTimeout(lease);
        var opened = sandboxes.open(egress.map(plain::withEgress).orElse(plain));
        if (opened.created()) {
            threads.revive(visit.thread());
        } else {
            egress.ifPresent(wanted -> requireSame(opened, wanted));
        }
        return opened;
    }

    /// A list that is not what the sandbox has must not be ignored in silence.
    private static void requireSame(OpenResult opened, Egress wanted) {
        if (!opened.sandbox().sandboxEgress().allowed().equals(wanted)) {
            throw new SandboxException(new Failure.InvalidRequest(
                    "egress", "is chosen when the sandbox is made; change it with PUT /threads/{thread_id}/egress"));
        }
    }
}
