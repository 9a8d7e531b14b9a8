package dev.vivarium.server.api;

import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.access.TokenRequest;
import dev.vivarium.core.access.Tokens;
import dev.vivarium.json.EgressJson;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.operation.CreateSandbox;
import java.io.IOException;
import java.util.List;

/// `POST /threads/{thread_id}/sandbox`: creates the sandbox of the thread if it has none, and issues a token for it.
/// Thread-safe.
public final class NegotiateHandler {
    /// Scopes of a token if the request names none.
    private static final Scopes ORDINARY = Scopes.of(Scope.FS_RW, Scope.SHELL, Scope.PROCESS);

    private final CreateSandbox create;
    private final ThreadCallers callers;
    private final Tokens tokens;
    private final TokenAnswer answer;

    public NegotiateHandler(CreateSandbox create, ThreadCallers callers, Tokens tokens, TokenAnswer answer) {
        this.create = create;
        this.callers = callers;
        this.tokens = tokens;
        this.answer = answer;
    }

    public void handle(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var thread = new ThreadId(exchange.path("thread_id"));
        var fields = exchange.optionalJson();
        // Accepted and ignored: a thread has one sandbox, and the response names it.
        fields.optionalString("sandbox_id");
        var wanted = TokenAnswer.scopes(fields).orElse(ORDINARY);
        var ttl = TokenAnswer.ttl(fields);
        var user = fields.optionalString("user_id").map(UserId::new);
        var egress = EgressJson.readOptional(fields);
        fields.refuseOthers();
        var visit = callers.enter(exchange.principal(), thread, user);
        var granted = TokenAnswer.granted(wanted, visit.scopes());
        var opened = create.forThread(visit, egress);
        var issued = tokens.issue(new TokenRequest(
                visit.subject(), visit.standing(), opened.sandbox().id(), thread, granted, ttl, List.of()));
        answer.send(exchange, issued, "", out -> out.writeBooleanProperty("created", opened.created()));
    }
}
