package dev.vivarium.server.api;

import static dev.vivarium.json.IdTypes.USER_ID;
import static dev.vivarium.json.JsonType.MINUTES;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.server.http.Route.Access.KEY;

import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.access.TokenRequest;
import dev.vivarium.core.access.Tokens;
import dev.vivarium.json.EgressJson;
import dev.vivarium.json.ExecJson;
import dev.vivarium.json.JsonFields;
import dev.vivarium.json.ObjectType;
import dev.vivarium.json.SessionJson;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.UserId;
import dev.vivarium.server.access.ThreadAccess;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.operation.CreateSandbox;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// `POST /threads/{thread_id}/sandbox`: creates the sandbox of a thread if it has none, and issues a token for it.
/// Thread-safe.
public final class NegotiateHandler {
    private static final ObjectType<Object> REQUEST = ObjectType.<Object>object(
                    "Negotiate",
                    optional("sandbox_id", STRING, "A hint: the previous sandbox of the client."),
                    optional("scopes", TokenResponse.SCOPES),
                    optional("ttl", TokenResponse.TTL),
                    optional("user_id", USER_ID, "For admins: the user of the token."),
                    optional("timeout_minutes", MINUTES, "The idle timeout of a new sandbox."),
                    optional("image", STRING, "The root file system of a new sandbox."),
                    optional("env", ExecJson.ENVIRONMENT),
                    optional("limits", SessionJson.LOWER_LIMITS, "Lower limits than the server's."),
                    optional("egress", EgressJson.EGRESS),
                    optional("on_idle", SessionJson.ON_IDLE, "For a new sandbox. Default: the setting on-idle."))
            .closed();

    private record Negotiate(Optional<Scopes> scopes, Optional<Duration> ttl, Optional<UserId> user) {
        static Negotiate read(JsonFields fields) {
            // A hint that the server ignores: a thread has one sandbox, and the response names it.
            fields.optionalString("sandbox_id");
            return new Negotiate(
                    fields.optional("scopes", TokenResponse.SCOPES),
                    fields.optional("ttl", TokenResponse.TTL),
                    fields.optional("user_id", USER_ID));
        }
    }

    public static final RouteDescription NEGOTIATE = RouteDescription.post("/threads/{thread_id}/sandbox", KEY)
            .named("negotiate", "Create the sandbox of a thread if it has none, and issue a token for it")
            .takesOptional(REQUEST)
            .answers(200, "The token, the addresses to use it at, and its scopes.", TokenResponse.TOKEN)
            .fails(403, 404, 500, 507);

    /// Default scopes.
    private static final Scopes ORDINARY = Scopes.of(Scope.FS_RW, Scope.SHELL, Scope.PROCESS);

    private final CreateSandbox create;
    private final ThreadResolver resolver;
    private final Tokens tokens;
    private final TokenResponse answer;

    public NegotiateHandler(CreateSandbox create, ThreadResolver resolver, Tokens tokens, TokenResponse answer) {
        this.create = create;
        this.resolver = resolver;
        this.tokens = tokens;
        this.answer = answer;
    }

    private NewSandbox wanted(JsonFields fields, ThreadAccess access) {
        var plain = NewSandbox.of(access.key().user(), access.key().thread());
        var wanted = SessionJson.readRest(fields, plain, create.rule().limits());
        fields.refuseOthers();
        return wanted;
    }

    public void handle(Exchange exchange) throws IOException {
        var fields = exchange.optionalJson();
        var request = Negotiate.read(fields);
        var access = resolver.enter(exchange, request.user());
        var granted = TokenResponse.granted(request.scopes().orElse(ORDINARY), access.scopes());
        var opened = create.forThread(access, wanted(fields, access));
        var issued = tokens.issue(new TokenRequest(
                access.subject(),
                access.standing(),
                opened.sandbox().id(),
                access.key(),
                granted,
                request.ttl().orElse(TokenRequest.MAX_TTL),
                List.of()));
        answer.send(exchange, issued, "", Optional.of(opened.created()));
    }
}
