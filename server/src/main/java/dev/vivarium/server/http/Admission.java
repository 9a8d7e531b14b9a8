package dev.vivarium.server.http;

import dev.vivarium.core.ByteBudget;
import dev.vivarium.core.access.BrowserSessions;
import dev.vivarium.core.access.Grant;
import dev.vivarium.core.access.Keys;
import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.access.Tokens;
import dev.vivarium.core.access.WorkerGrant.Audience;
import dev.vivarium.core.access.WorkerTokens;
import dev.vivarium.core.guest.Cancellation;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.server.access.SandboxLookup;
import java.net.InetAddress;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.eclipse.jetty.server.Request;

/// Authentication and authorization of callers. Thread-safe.
///
/// It answers 401 without a valid key or token, and 403 if only the scope is missing. It answers 404 for a sandbox that
/// does not exist or is not the caller's, so that callers cannot distinguish the two.
public final class Admission {
    private final Keys keys;
    private final BrowserSessions sessions;
    private final Tokens tokens;
    private final WorkerTokens workers;
    private final SandboxLookup lookup;
    private final ByteBudget memory;
    private final CallLimits limits;
    private final Credentials credentials;
    private final AccessRegistry accesses;

    /// Rechecks open accesses at each change of a right in `store`.
    public Admission(
            CredentialStore store,
            SandboxLookup lookup,
            ByteBudget memory,
            CallLimits limits,
            Origins origins,
            AccessRegistry accesses) {
        this.keys = store.keys();
        this.sessions = store.sessions();
        this.tokens = store.tokens();
        this.workers = store.workers();
        this.lookup = lookup;
        this.memory = memory;
        this.limits = limits;
        this.credentials = new Credentials(origins);
        this.accesses = accesses;
        store.listen(accesses::changed);
    }

    /// Returns the concurrency limits.
    public RequestLimits requests() {
        return limits.requests();
    }

    /// Delays the response to a failed authentication, longer after each failure of the address or the credential.
    public void delayFailure(Optional<InetAddress> address, Optional<Credential> shown, Cancellation cancellation) {
        limits.failures().await(address, shown.flatMap(Credential::secret), cancellation);
    }

    /// Delays the response to a request with an invalid credential.
    void delayFailure(Request request, Cancellation cancellation) {
        Optional<Credential> shown = Exchange.shown(request).<Credential>map(Credential.Shown::new);
        delayFailure(ClientEndPoint.address(request), shown.or(() -> tryRead(request)), cancellation);
    }

    private Optional<Credential> tryRead(Request request) {
        try {
            return Optional.of(credentials.of(request));
        } catch (SandboxException e) {
            return Optional.empty();
        }
    }

    /// Authenticates and authorizes the caller for a matched route.
    Caller admit(Router.Match match, Supplier<Credential> shown) {
        var parameters = match.parameters();
        return switch (match.route().access()) {
            case Route.Access.Open _, Route.Access.Own _, Route.Access.FirstMessage _ -> Caller.ANYBODY;
            case Route.Access.Key _ -> Caller.of(keyHolder(shown.get()));
            case Route.Access.Admin _ -> Caller.of(admin(shown.get()));
            case Route.Access.Token _ -> Caller.of(identify(shown.get()));
            case Route.Access.Scoped(var scope) -> admit(name(parameters), shown.get(), scope);
            case Route.Access.Kept(var scope) -> admitKept(name(parameters), shown.get(), scope);
            case Route.Access.Inside(var scope) -> admitInside(name(parameters), shown.get(), scope);
            case Route.Access.Worker _ -> admitWorker(shown.get());
        };
    }

    /// Returns the credential of a request. Throws `NotAuthenticated` if the request has none.
    Credential shown(Request request) {
        return credentials.of(request);
    }

    /// Returns an empty memory reservation for the caller's request. All anonymous callers share one part.
    public ByteBudget.Reservation memory(Caller caller) {
        return memory.open(caller.principal().map(who -> who.name().value()).orElse(""));
    }

    /// Returns the browser session of a request, if it has one and no other credential.
    Optional<Credential> session(Request request) {
        return credentials.session(request);
    }

    /// Authenticates `credential`, a key or a token, and authorizes `wanted` for the sandbox.
    public Caller admit(String sandboxId, String credential, Scope wanted) {
        return admit(sandboxId, new Credential.Shown(credential), wanted);
    }

    /// Authenticates any credential, including a browser session, and authorizes `wanted` for the sandbox.
    public Caller admit(String sandboxId, Credential credential, Scope wanted) {
        Principal principal = identify(credential);
        Sandbox sandbox = lookup.known(principal, sandboxId);
        var scopes = lookup.scopes(principal, sandbox).orElseThrow(() -> SandboxLookup.unknown(sandboxId));
        SandboxLookup.requireScope(scopes, wanted);
        return new Caller(Optional.of(principal), Optional.of(sandbox), scopes);
    }

    /// Also accepts the worker of that sandbox.
    private Caller admitInside(String sandboxId, Credential credential, Scope wanted) {
        if (!(credential instanceof Credential.Shown(String token)) || !WorkerTokens.isOne(token)) {
            return admit(sandboxId, credential, wanted);
        }
        var caller = admitWorker(credential);
        if (!caller.sandbox().orElseThrow().id().value().equals(sandboxId)) {
            throw SandboxLookup.unknown(sandboxId);
        }
        return caller;
    }

    private Caller admitWorker(Credential credential) {
        if (!(credential instanceof Credential.Shown(String token))) {
            throw new SandboxException(new Failure.NotAuthenticated("the token of the worker is needed"));
        }
        if (!WorkerTokens.isOne(token)) {
            identify(token);
            throw new SandboxException(new Failure.NotAllowed("this is for the worker inside a sandbox, by its token"));
        }
        var grant = workers.verify(token, Audience.WORKER);
        var worker = new Principal.Worker(grant);
        return new Caller(
                Optional.of(worker),
                Optional.of(lookup.known(worker, grant.sandbox().value())),
                Scopes.NONE);
    }

    /// Returns the number of published changes of rights, for [Access#since].
    long changes() {
        return accesses.changes();
    }

    /// Holds the right of a caller while the server handles its request. A replaced token stays valid as long as
    /// its replacement, because clients refresh tokens while commands run. The registry calls `cut` if the right is
    /// lost.
    Optional<Access> hold(Caller caller, Router.Match match, Request request, Runnable cut) {
        return caller.principal().map(who -> {
            Credential shown = shown(request);
            return accesses.open(caller, end(who, shown), () -> recheck(caller, match, shown), _ -> cut.run());
        });
    }

    private Access.Standing recheck(Caller caller, Router.Match match, Credential shown) {
        try {
            return standing(admit(match, () -> shown), shown);
        } catch (SandboxException e) {
            return caller.principal()
                    .flatMap(Principal::findGrant)
                    .flatMap(tokens::successor)
                    .flatMap(next -> standing(next, caller, match.route().access()))
                    .orElseThrow(() -> e);
        }
    }

    /// Returns the rights of the token that replaced the caller's token. Empty if they lack the scope of the route.
    private Optional<Access.Standing> standing(Grant next, Caller caller, Route.Access access) {
        Optional<Scopes> scopes = caller.sandbox().isEmpty()
                ? Optional.of(Scopes.NONE)
                : lookup.scopes(new Principal.Holder(next), caller.sandbox().get());
        return scopes.filter(all ->
                        access.needed().isEmpty() || all.allows(access.needed().get()))
                .map(all -> new Access.Standing(all, tokens.end(next)));
    }

    /// Holds the right of a caller for a connection of unlimited duration. The registry calls `onLoss` if `admit`
    /// throws.
    ///
    /// @param admit authorizes the caller again, or throws
    public Access hold(Caller caller, Credential shown, Supplier<Caller> admit, Consumer<Failure> onLoss) {
        Instant end = standing(caller, shown).end();
        var access = accesses.open(caller, end, () -> standing(admit.get(), shown), onLoss);
        // The right may be lost since the admission.
        AccessRegistry.recheck(access);
        return access;
    }

    private Access.Standing standing(Caller caller, Credential shown) {
        return new Access.Standing(caller.scopes(), end(caller.principal().orElseThrow(), shown));
    }

    /// Returns the latest end of a right, if it is not revoked earlier.
    private Instant end(Principal who, Credential shown) {
        return switch (who) {
            case Principal.Holder(var grant) -> tokens.end(grant);
            case Principal.Worker(var grant) -> grant.expires();
            case Principal.Admin _, Principal.User _ ->
                switch (shown) {
                    case Credential.Session(String id) ->
                        sessions.find(id).map(BrowserSessions.Session::expires).orElse(Instant.MIN);
                    case Credential.Shown(String key) -> keys.end(key);
                    case Credential.Foreign _ -> Instant.MIN;
                };
        };
    }

    /// Counts the call, if a rate limit applies to the caller.
    Optional<RateLimits.Standing> count(Caller caller, Route route) {
        return caller.principal()
                .flatMap(who -> who instanceof Principal.Worker(var grant)
                        ? limits.rates().count(grant.sandbox(), route)
                        : Optional.empty());
    }

    /// Counts the bytes of the call, if a rate limit applies to the caller.
    Optional<RateLimits.Standing> countBytes(Caller caller, Route route, int bytes) {
        return caller.principal()
                .flatMap(who -> who instanceof Principal.Worker(var grant)
                        ? limits.rates().countBytes(grant.sandbox(), route, bytes)
                        : Optional.empty());
    }

    /// Reports whether the principal may call from inside that sandbox.
    static boolean isFrom(Principal who, SandboxId sandbox) {
        return who instanceof Principal.Worker(var grant) && grant.sandbox().equals(sandbox);
    }

    private static String name(Map<String, String> parameters) {
        return Optional.ofNullable(parameters.get("sandbox_id")).orElseThrow();
    }

    /// Authorizes `wanted` for a sandbox that may have ended.
    public Caller admitKept(String sandboxId, Credential credential, Scope wanted) {
        Principal principal = identify(credential);
        return lookup.ended(principal, sandboxId)
                .map(scopes -> new Caller(Optional.of(principal), Optional.empty(), scopes))
                .orElseGet(() -> admit(sandboxId, credential, wanted));
    }

    /// Returns the principal of `credential`, if it is valid.
    public Optional<Principal> find(String credential) {
        try {
            Optional<Principal> worker = workers.find(credential).map(Principal.Worker::new);
            return worker.or(() -> Optional.of(identify(credential)));
        } catch (SandboxException e) {
            return Optional.empty();
        }
    }

    /// Returns the principal of any kind of credential, if it is valid.
    public Optional<Principal> find(Credential credential) {
        return switch (credential) {
            case Credential.Shown(String text) -> find(text);
            case Credential.Session(String id) -> sessions.find(id).map(BrowserSessions.Session::who);
            case Credential.Foreign _ -> Optional.empty();
        };
    }

    /// Returns the holder of the token of a request, also if the token has expired or was revoked. For the audit
    /// log only.
    Optional<Principal> holder(Request request) {
        return tryRead(request)
                .flatMap(credential -> credential instanceof Credential.Shown(String text)
                        ? tokens.read(text).map(Principal.Holder::new)
                        : Optional.empty());
    }

    /// Returns the principal of a request, if its credential is valid.
    Optional<Principal> find(Request request) {
        return tryRead(request).flatMap(this::find);
    }

    /// Returns the principal of a request. Throws `NotAuthenticated` without a valid credential.
    Principal identify(Request request) {
        return identify(credentials.of(request));
    }

    /// Returns the principal of a credential. Throws `NotAuthenticated` if the credential is invalid. Throws
    /// `wrong-origin` if a page of another origin caused the request.
    public Principal identify(Credential credential) {
        return switch (credential) {
            case Credential.Shown(String text) -> identify(text);
            case Credential.Session(String id) -> signedIn(id);
            case Credential.Foreign _ -> throw Origins.wrong();
        };
    }

    private Principal signedIn(String id) {
        return sessions.find(id)
                .orElseThrow(() ->
                        new SandboxException(new Failure.NotAuthenticated("the session has ended; sign in again")))
                .who();
    }

    /// Returns the principal of a key or token. Throws `NotAuthenticated` if it is invalid.
    public Principal identify(String credential) {
        if (workers.find(credential).isPresent()) {
            throw new SandboxException(
                    new Failure.NotAllowed("the token of a worker is good for its own task and for nothing else"));
        }
        // Keys are checked first, because an operator may choose an admin key of any form.
        return keys.find(credential).orElseGet(() -> new Principal.Holder(tokens.verify(credential)));
    }

    private Principal keyHolder(Credential credential) {
        return credential instanceof Credential.Shown(String key)
                ? keys.find(key).orElseThrow(() -> noKey(key))
                : identify(credential);
    }

    /// A valid token identifies its caller, who lacks the right.
    private SandboxException noKey(String credential) {
        return new SandboxException(
                isToken(credential)
                        ? new Failure.NotAllowed("this needs an API key; a token is valid for its own sandbox only")
                        : new Failure.NotAuthenticated("the API key is not valid"));
    }

    private boolean isToken(String credential) {
        if (workers.find(credential).isPresent()) {
            return true;
        }
        try {
            var _ = tokens.verify(credential);
            return true;
        } catch (SandboxException e) {
            return false;
        }
    }

    private Principal admin(Credential credential) {
        Principal principal = keyHolder(credential);
        if (!(principal instanceof Principal.Admin)) {
            throw new SandboxException(new Failure.NotAllowed("this needs an admin key"));
        }
        return principal;
    }
}
