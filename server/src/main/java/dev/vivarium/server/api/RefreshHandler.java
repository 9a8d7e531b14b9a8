package dev.vivarium.server.api;

import dev.vivarium.core.access.Grant;
import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.access.TokenRequest;
import dev.vivarium.core.access.Tokens;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.access.ThreadAccess;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// The routes that make a token out of another: `POST …/sandbox/refresh` the next, `POST …/sandbox/token` a
/// narrower one for somebody else. Neither is ever wider. Thread-safe.
public final class RefreshHandler {
    /// How often a token can be narrowed again.
    private static final int MAX_ANCESTORS = 8;

    private final ThreadCallers callers;
    private final Tokens tokens;
    private final TokenAnswer answer;
    private final InstantSource clock;

    public RefreshHandler(ThreadCallers callers, Tokens tokens, TokenAnswer answer, InstantSource clock) {
        this.callers = callers;
        this.tokens = tokens;
        this.answer = answer;
        this.clock = clock;
    }

    /// `POST /threads/{thread_id}/sandbox/refresh`: takes a key and the present token, of which it is the owner.
    public void refresh(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var visit = callers.require(exchange);
        var fields = exchange.json();
        var hint = fields.optionalString("sandbox_id");
        String current = fields.string("current_token");
        var wanted = TokenAnswer.scopes(fields);
        var ttl = TokenAnswer.ttl(fields);
        fields.refuseOthers();
        var old = tokens.verifyForRefresh(current);
        requireOfThread(visit, old, hint);
        requireSubject(exchange.principal(), old);
        var scopes = narrowed(wanted, old.scopes(), visit.scopes());
        answer.send(exchange, tokens.replace(old, issue(old, scopes, ttl, old.ancestors())), "refresh", _ -> {});
    }

    /// `POST /threads/{thread_id}/sandbox/token`: takes the token to narrow as credential, or in the body beside a
    /// key.
    public void downscope(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var visit = callers.require(exchange);
        var fields = exchange.optionalJson();
        var shown = fields.optionalString("current_token");
        var wanted = TokenAnswer.scopes(fields);
        var ttl = TokenAnswer.ttl(fields);
        fields.refuseOthers();
        var old = parent(exchange.principal(), shown);
        requireOfThread(visit, old, Optional.empty());
        if (old.ancestors().size() >= MAX_ANCESTORS) {
            throw new SandboxException(new Failure.NotAllowed("this token was narrowed too often"));
        }
        var ancestors = new ArrayList<>(old.ancestors());
        ancestors.add(old.jti());
        var scopes = narrowed(wanted, old.scopes(), visit.scopes());
        answer.send(exchange, tokens.issue(issue(old, scopes, atMost(ttl, old), ancestors)), "token", _ -> {});
    }

    private Grant parent(Principal principal, Optional<String> shown) {
        return switch (principal) {
            case Principal.Holder(var grant) -> shown.map(tokens::verify).orElse(grant);
            case Principal.Admin _, Principal.User _ ->
                shown.map(tokens::verify)
                        .orElseThrow(() -> new SandboxException(new Failure.InvalidRequest(
                                "current_token", "is required, unless a token is the credential")));
            case Principal.Worker _ ->
                throw new SandboxException(new Failure.NotAllowed("a worker's token cannot be narrowed"));
        };
    }

    private static TokenRequest issue(Grant old, Scopes scopes, Duration ttl, List<String> ancestors) {
        return new TokenRequest(old.subject(), old.standing(), old.sandbox(), old.thread(), scopes, ttl, ancestors);
    }

    private static Scopes narrowed(Optional<Scopes> wanted, Scopes old, Scopes present) {
        return TokenAnswer.granted(wanted.orElse(old).narrow(old), present);
    }

    /// No longer than the one it is made of.
    private Duration atMost(Duration ttl, Grant old) {
        var left = Duration.between(clock.instant(), old.expires());
        return ttl.compareTo(left) < 0 ? ttl : left;
    }

    private void requireOfThread(ThreadAccess visit, Grant old, Optional<String> hint) {
        boolean isOfThread = old.thread().equals(visit.thread())
                && old.sandbox().equals(callers.sandbox(visit).id());
        boolean isHinted = hint.isEmpty() || hint.get().equals(old.sandbox().value());
        if (!isOfThread || !isHinted) {
            throw new SandboxException(new Failure.NoSandboxForThread(visit.thread()));
        }
    }

    /// Somebody else's token is no proof of anything.
    private static void requireSubject(Principal principal, Grant old) {
        boolean isOwn = principal instanceof Principal.Admin || principal.user().equals(Optional.of(old.subject()));
        if (!isOwn) {
            throw new SandboxException(new Failure.NotAllowed("the token was given to somebody else"));
        }
    }
}
