package dev.vivarium.server.http;

import dev.vivarium.core.access.BrowserSessions;
import dev.vivarium.core.access.Keys;
import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Rights;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.access.Tokens;
import dev.vivarium.core.access.WorkerGrant.Audience;
import dev.vivarium.core.access.WorkerTokens;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.util.Map;
import java.util.Optional;
import org.eclipse.jetty.server.Request;

/// Decides who calls and whether they may: 401 without a good key or token, 404 for a sandbox that is not there or not
/// theirs (nobody can tell which), 403 when only the scope is missing. Thread-safe.
public final class Admission {
    private static final int SHOWN_ID = 64;

    private final Keys keys;
    private final BrowserSessions sessions;
    private final Tokens tokens;
    private final WorkerTokens workers;
    private final Rights rights;
    private final Sandboxes sandboxes;
    private final RateLimits limits;
    private final Credentials credentials;

    public Admission(Proofs proofs, Rights rights, Sandboxes sandboxes, RateLimits limits, Origins origins) {
        this.keys = proofs.keys;
        this.sessions = proofs.sessions;
        this.tokens = proofs.tokens;
        this.workers = proofs.workers;
        this.rights = rights;
        this.sandboxes = sandboxes;
        this.limits = limits;
        this.credentials = new Credentials(origins);
    }

    /// All that somebody can be known by.
    public record Proofs(Keys keys, BrowserSessions sessions, Tokens tokens, WorkerTokens workers) {}

    /// Who may call a route with these parameters of its path.
    Caller admit(Route route, Map<String, String> parameters, Request request) {
        return switch (route.access()) {
            case Route.Access.Open _, Route.Access.Own _ -> Caller.ANYBODY;
            case Route.Access.Key _ -> Caller.of(keyHolder(credentials.of(request)));
            case Route.Access.Admin _ -> Caller.of(admin(credentials.of(request)));
            case Route.Access.Token _ -> Caller.of(identify(request));
            case Route.Access.Scoped(var scope) -> admit(name(parameters), credentials.of(request), scope);
            case Route.Access.Kept(var scope) -> admitKept(name(parameters), credentials.of(request), scope);
            case Route.Access.Inside(var scope) -> admitInside(name(parameters), credentials.of(request), scope);
            case Route.Access.Worker _ -> admitWorker(Credentials.key(request.getHeaders()));
        };
    }

    /// The session of the browser that asks, if it is one and shows nothing else.
    Optional<Credential> session(Request request) {
        return credentials.session(request);
    }

    /// Lets in whoever holds `credential`, a key or a token, and may do `wanted` to the sandbox of that name.
    public Caller admit(String sandboxId, String credential, Scope wanted) {
        return admit(sandboxId, new Credential.Shown(credential), wanted);
    }

    /// The same, or whose browser it is.
    public Caller admit(String sandboxId, Credential credential, Scope wanted) {
        Principal principal = identify(credential);
        Sandbox sandbox = find(sandboxId, principal);
        var scopes = rights.of(principal, target(sandbox)).orElseThrow(() -> unknown(sandboxId));
        if (!scopes.allows(wanted)) {
            throw new SandboxException(new Failure.NotAllowed("this needs the scope " + wanted.text()));
        }
        return new Caller(Optional.of(principal), Optional.of(sandbox), scopes);
    }

    /// The same, or the worker of that sandbox.
    private Caller admitInside(String sandboxId, Credential credential, Scope wanted) {
        if (!(credential instanceof Credential.Shown(String token)) || !WorkerTokens.isOne(token)) {
            return admit(sandboxId, credential, wanted);
        }
        var caller = admitWorker(token);
        if (!caller.sandbox().orElseThrow().id().value().equals(sandboxId)) {
            throw unknown(sandboxId);
        }
        return caller;
    }

    private Caller admitWorker(String credential) {
        if (!WorkerTokens.isOne(credential)) {
            identify(credential);
            throw new SandboxException(new Failure.NotAllowed("this is for the worker inside a sandbox, by its token"));
        }
        var grant = workers.verify(credential, Audience.WORKER);
        var worker = new Principal.Worker(grant);
        return new Caller(Optional.of(worker), Optional.of(find(grant.sandbox().value(), worker)), Scopes.NONE);
    }

    /// Sees to it that `cut` is called when the caller of a sandbox's route loses the right to it; for tokens, not
    /// for keys. Close the result when the answer is complete.
    Optional<Leash> leash(Caller caller, Router.Match match, Request request, Runnable cut) {
        return Optional.of(caller)
                .filter(_ -> isAboutOneSandbox(match.route().access()))
                .flatMap(Caller::principal)
                .flatMap(Principal::findGrant)
                .map(grant -> Leash.take(tokens, grant, () -> isAdmitted(match, request), cut));
    }

    private static boolean isAboutOneSandbox(Route.Access access) {
        return access instanceof Route.Access.Scoped
                || access instanceof Route.Access.Kept
                || access instanceof Route.Access.Inside;
    }

    private boolean isAdmitted(Router.Match match, Request request) {
        try {
            admit(match.route(), match.parameters(), request);
            return true;
        } catch (SandboxException e) {
            return false;
        }
    }

    /// Counts the call, if the caller is somebody who may call only so often.
    Optional<RateLimits.Standing> count(Caller caller, Route route) {
        return caller.principal()
                .flatMap(who -> who instanceof Principal.Worker(var grant)
                        ? limits.count(grant.sandbox(), route)
                        : Optional.empty());
    }

    /// Counts what came with the call, if the caller is somebody who may send only so much.
    Optional<RateLimits.Standing> weigh(Caller caller, Route route, int bytes) {
        return caller.principal()
                .flatMap(who -> who instanceof Principal.Worker(var grant)
                        ? limits.weigh(grant.sandbox(), route, bytes)
                        : Optional.empty());
    }

    /// Reports whether this is somebody who may call from inside that sandbox.
    static boolean isFrom(Principal who, SandboxId sandbox) {
        return who instanceof Principal.Worker(var grant) && grant.sandbox().equals(sandbox);
    }

    private static String name(Map<String, String> parameters) {
        return Optional.ofNullable(parameters.get("sandbox_id")).orElseThrow();
    }

    /// The same for a sandbox that may have ended.
    public Caller admitKept(String sandboxId, Credential credential, Scope wanted) {
        Principal principal = identify(credential);
        boolean wasTheirs = SandboxId.isWellFormed(sandboxId)
                && sandboxes
                        .endedOwner(new SandboxId(sandboxId))
                        .filter(principal::mayActFor)
                        .isPresent();
        return wasTheirs ? Caller.of(principal) : admit(sandboxId, credential, wanted);
    }

    /// Who holds `credential`, if it is good for anything.
    public Optional<Principal> find(String credential) {
        try {
            Optional<Principal> worker = workers.find(credential).map(Principal.Worker::new);
            return worker.or(() -> Optional.of(identify(credential)));
        } catch (SandboxException e) {
            return Optional.empty();
        }
    }

    /// The same for whatever is shown.
    public Optional<Principal> find(Credential credential) {
        return switch (credential) {
            case Credential.Shown(String text) -> find(text);
            case Credential.Session(String id) -> sessions.find(id).map(BrowserSessions.Session::who);
            case Credential.Foreign _ -> Optional.empty();
        };
    }

    /// Who sends a request, if they show something that is good for anything.
    Optional<Principal> find(Request request) {
        try {
            return find(credentials.of(request));
        } catch (SandboxException e) {
            return Optional.empty();
        }
    }

    /// Whoever has any key, token or session that is good for something.
    Principal identify(Request request) {
        return identify(credentials.of(request));
    }

    /// Whoever shows this; fails with `NotAuthenticated` when it is good for nothing, and with `wrong-origin` when
    /// a page from elsewhere made the browser show it.
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

    /// Whoever holds `credential`; fails with `NotAuthenticated` when it is good for nothing.
    public Principal identify(String credential) {
        if (workers.find(credential).isPresent()) {
            throw new SandboxException(
                    new Failure.NotAllowed("the token of a worker is good for its own task and for nothing else"));
        }
        // An operator may have chosen an admin key that looks like anything, so keys are asked first.
        return keys.find(credential).orElseGet(() -> new Principal.Holder(tokens.verify(credential)));
    }

    private Principal keyHolder(Credential credential) {
        return credential instanceof Credential.Shown(String key) ? keys.authenticate(key) : identify(credential);
    }

    private Principal admin(Credential credential) {
        Principal principal = keyHolder(credential);
        if (!(principal instanceof Principal.Admin)) {
            throw new SandboxException(new Failure.NotAllowed("this needs an admin key"));
        }
        return principal;
    }

    private Sandbox find(String id, Principal principal) {
        if (!SandboxId.isWellFormed(id)) {
            throw unknown(id);
        }
        var sandbox = new SandboxId(id);
        // How one ended is told to those whose it was, and to nobody else.
        return sandboxes.find(sandbox).orElseGet(() -> sandboxes.require(sandbox, principal::mayActFor));
    }

    private static Rights.Target target(Sandbox sandbox) {
        var info = sandbox.info();
        return new Rights.Target(info.id(), info.thread(), info.user());
    }

    private static SandboxException unknown(String id) {
        String shown = id.length() <= SHOWN_ID ? id : id.substring(0, SHOWN_ID) + "…";
        return new SandboxException(new Failure.NoSuchSandbox(shown, Optional.empty()));
    }
}
