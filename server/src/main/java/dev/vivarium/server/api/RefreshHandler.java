package dev.vivarium.server.api;

import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.server.http.Route.Access.KEY;
import static dev.vivarium.server.http.Route.Access.TOKEN;

import dev.vivarium.core.access.Grant;
import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.access.TokenRequest;
import dev.vivarium.core.access.Tokens;
import dev.vivarium.json.ObjectType;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.access.ThreadAccess;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Routes that derive a token from another one: `POST …/sandbox/refresh` replaces it, and `POST …/sandbox/token`
/// issues a narrower one for another user. The scopes never grow. Thread-safe.
public final class RefreshHandler {
    private static final ObjectType<Refresh> REFRESH_REQUEST = object(
                    Refresh::new,
                    optional("sandbox_id", STRING),
                    field("current_token", STRING),
                    optional("scopes", TokenResponse.SCOPES),
                    optional("ttl", TokenResponse.TTL))
            .named("Refresh")
            .closed();
    private static final ObjectType<Downscope> NARROW = object(
                    "Narrow",
                    Downscope::new,
                    optional("current_token", STRING),
                    optional("scopes", TokenResponse.SCOPES),
                    optional("ttl", TokenResponse.TTL))
            .closed();

    private record Refresh(Optional<String> sandbox, String token, Optional<Scopes> scopes, Optional<Duration> ttl) {}

    private record Downscope(Optional<String> token, Optional<Scopes> scopes, Optional<Duration> ttl) {}

    public static final RouteDescription REFRESH = RouteDescription.post("/threads/{thread_id}/sandbox/refresh", KEY)
            .named("refreshToken", "Replace a token that expires soon, with the same or narrower scopes")
            .takes(REFRESH_REQUEST)
            .answers(200, "The previous token stays valid for 30 seconds.", TokenResponse.TOKEN)
            .fails(403, 404);

    public static final RouteDescription DOWNSCOPE = RouteDescription.post("/threads/{thread_id}/sandbox/token", TOKEN)
            .named("narrowToken", "Derive a narrower token from the credential or from the token in the body")
            .takesOptional(NARROW)
            .answers(200, "The token expires with the token that it was derived from.", TokenResponse.TOKEN);

    /// Maximum length of a chain of derived tokens.
    private static final int MAX_ANCESTORS = 8;

    private final ThreadResolver resolver;
    private final Tokens tokens;
    private final TokenResponse answer;
    private final InstantSource clock;

    public RefreshHandler(ThreadResolver resolver, Tokens tokens, TokenResponse answer, InstantSource clock) {
        this.resolver = resolver;
        this.tokens = tokens;
        this.answer = answer;
        this.clock = clock;
    }

    /// `POST /threads/{thread_id}/sandbox/refresh`: requires the key of the subject of the token.
    public void refresh(Exchange exchange) throws IOException {
        var access = resolver.require(exchange);
        var request = exchange.json(REFRESH_REQUEST);
        var old = tokens.verifyForRefresh(request.token());
        requireOfThread(access, old, request.sandbox());
        requireSubject(exchange.principal(), old);
        var scopes = narrowed(request.scopes(), old.scopes(), access.scopes());
        var ttl = request.ttl().orElse(TokenRequest.MAX_TTL);
        var issued = tokens.replace(old, issue(old, scopes, ttl, old.ancestors()));
        answer.send(exchange, issued, "refresh", Optional.empty());
    }

    /// `POST /threads/{thread_id}/sandbox/token`: the token to narrow is the credential, or it is in the body and
    /// the credential is a key.
    public void downscope(Exchange exchange) throws IOException {
        var access = resolver.require(exchange);
        var request = exchange.optionalJson(NARROW);
        var old = parent(exchange.principal(), request.token());
        requireOfThread(access, old, Optional.empty());
        if (old.ancestors().size() >= MAX_ANCESTORS) {
            throw new SandboxException(new Failure.NotAllowed("this token was narrowed too often"));
        }
        var ancestors = new ArrayList<>(old.ancestors());
        ancestors.add(old.jti());
        var scopes = narrowed(request.scopes(), old.scopes(), access.scopes());
        var ttl = atMost(request.ttl().orElse(TokenRequest.MAX_TTL), old);
        answer.send(exchange, tokens.issue(issue(old, scopes, ttl, ancestors)), "token", Optional.empty());
    }

    private Grant parent(Principal principal, Optional<String> shown) {
        return switch (principal) {
            case Principal.Holder(var grant) -> shown.map(tokens::verify).orElse(grant);
            case Principal.Admin _, Principal.User _ ->
                shown.map(tokens::verify)
                        .orElseThrow(() -> SandboxException.invalid(
                                "current_token", "is required, unless a token is the credential"));
            case Principal.Worker _ ->
                throw new SandboxException(new Failure.NotAllowed("a worker's token cannot be narrowed"));
        };
    }

    private static TokenRequest issue(Grant old, Scopes scopes, Duration ttl, List<String> ancestors) {
        return new TokenRequest(old.subject(), old.standing(), old.sandbox(), old.key(), scopes, ttl, ancestors);
    }

    private static Scopes narrowed(Optional<Scopes> wanted, Scopes old, Scopes present) {
        return TokenResponse.granted(wanted.orElse(old).narrow(old), present);
    }

    /// The new token expires no later than the old one.
    private Duration atMost(Duration ttl, Grant old) {
        var left = Duration.between(clock.instant(), old.expires());
        return ttl.compareTo(left) < 0 ? ttl : left;
    }

    private void requireOfThread(ThreadAccess access, Grant old, Optional<String> hint) {
        boolean isOfThread = old.key().equals(access.key())
                && old.sandbox().equals(resolver.sandbox(access).id());
        boolean isHinted = hint.isEmpty() || hint.get().equals(old.sandbox().value());
        if (!isOfThread || !isHinted) {
            throw new SandboxException(
                    new Failure.NoSandboxForThread(access.key().thread()));
        }
    }

    /// A caller may refresh only a token that was issued to it.
    private static void requireSubject(Principal principal, Grant old) {
        boolean isOwn = principal instanceof Principal.Admin || principal.user().equals(Optional.of(old.subject()));
        if (!isOwn) {
            throw new SandboxException(new Failure.NotAllowed("the token was issued to another user"));
        }
    }
}
