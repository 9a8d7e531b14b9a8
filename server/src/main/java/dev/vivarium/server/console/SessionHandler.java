package dev.vivarium.server.console;

import static dev.vivarium.json.IdTypes.USER_ID;
import static dev.vivarium.json.JsonType.BOOLEAN;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.TIME;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.server.http.Route.Access.KEY;
import static dev.vivarium.server.http.Route.Access.OWN;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.access.AuditEntry.Kind;
import dev.vivarium.core.access.BrowserSessions;
import dev.vivarium.core.access.Principal;
import dev.vivarium.json.ObjectType;
import dev.vivarium.json.ProblemJson;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Credential;
import dev.vivarium.server.http.Credentials;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.Origins;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.settings.PreviewConfig;
import java.io.IOException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.Function;

/// Handler for `/console/session`. Thread-safe.
///
/// A browser sends a key once and receives a cookie. Scripts cannot read the cookie, and it is valid only for requests
/// from the server's own pages.
public final class SessionHandler {
    private static final ObjectType<String> SIGN_IN_REQUEST =
            object("SignIn", Function.identity(), field("key", STRING)).closed();
    private static final ObjectType<PreviewConfig> PREVIEWS = object(
            "",
            field("domain", STRING, PreviewConfig::domain),
            field("is_secure", BOOLEAN, "Whether the scheme is `https`.", PreviewConfig::secure));
    private static final ObjectType<Server> SERVER = object(
            "",
            field("version", STRING, Server::version),
            optional("build", STRING, "The build of the console. Absent without a console.", Server::build),
            field(
                    "previews",
                    PREVIEWS,
                    "The addresses of ports of sandboxes: `{port}-{sandbox_id}.{domain}`.",
                    Server::previews));
    private static final ObjectType<Caller> BROWSER_SESSION = object(
            "BrowserSession",
            field("user_id", USER_ID, caller -> caller.who().name()),
            field("is_admin", BOOLEAN, caller -> caller.who() instanceof Principal.Admin),
            optional("expires_at", TIME, "When the session expires. Absent with a key.", Caller::expires),
            field("server", SERVER, Caller::server));

    private record Caller(Principal who, Optional<Instant> expires, Server server) {}

    public static final RouteDescription SIGN_IN = RouteDescription.post(
                    "/console/session", OWN, "signIn", "Sign in a browser")
            .text("""
                    For pages of this server. The browser sends a key once and receives a cookie that scripts \
                    cannot read. The session expires after 12 hours and ends with the key. A key has at most 100 \
                    sessions; a new one replaces the oldest.""")
            .withoutCredential()
            .takes(SIGN_IN_REQUEST)
            .answers(204, "The browser is signed in.")
            .withHeader("Set-Cookie", STRING)
            .fails(403, "`wrong-origin`: the page has another origin.")
            .fails(400, 401, 503);

    public static final RouteDescription SHOW = RouteDescription.get(
                    "/console/session", KEY, "showSession", "Return the caller")
            .answers(200, "The caller, by key or by session.", BROWSER_SESSION)
            .fails(403, "`wrong-origin`: the page has another origin.");

    public static final RouteDescription SIGN_OUT = RouteDescription.delete(
                    "/console/session", KEY, "signOut", "Sign out a browser")
            .answers(204, "The browser is signed out.")
            .fails(403, "`wrong-origin`: the page has another origin.");

    private static final String ROUTE = "/console/session";
    private static final int NO_CONTENT = 204;

    private final BrowserSessions sessions;
    private final Origins origins;
    private final Audit audit;
    private final InstantSource clock;
    private final Server server;

    public SessionHandler(BrowserSessions sessions, Origins origins, Audit audit, InstantSource clock, Server server) {
        this.sessions = sessions;
        this.origins = origins;
        this.audit = audit;
        this.clock = clock;
        this.server = server;
    }

    /// Server data for the page: version, build of the console, and addresses of previews. Immutable.
    public record Server(String version, Optional<String> build, PreviewConfig previews) {}

    /// `POST`: signs in. Pages of other origins are refused: they could sign a user in to a foreign account
    /// unnoticed.
    public void signIn(Exchange exchange) throws IOException {
        BrowserSessions.Begun begun;
        try {
            origins.require(exchange.request());
            begun = sessions.begin(exchange.json(SIGN_IN_REQUEST));
        } catch (SandboxException e) {
            int status = ProblemJson.status(e.failure());
            if (status == 401 || status == 403) {
                audit.record(
                        entry(Kind.REFUSED, status, "POST").detail(e.failure().slug()));
            }
            throw e;
        }
        audit.record(
                entry(Kind.SIGNED_IN, NO_CONTENT, "POST").by(begun.session().who()));
        setCookie(exchange, begun.id(), BrowserSessions.LENGTH.toSeconds());
        exchange.answer(NO_CONTENT);
    }

    /// `GET`: returns the signed-in user.
    public void show(Exchange exchange) throws IOException {
        Principal who = exchange.principal();
        var session = exchange.session()
                .flatMap(
                        shown -> shown instanceof Credential.Session(String id) ? sessions.find(id) : Optional.empty());
        exchange.answer(200, BROWSER_SESSION, new Caller(who, session.map(BrowserSessions.Session::expires), server));
    }

    /// `DELETE`: signs out.
    public void signOut(Exchange exchange) throws IOException {
        if (exchange.session().isPresent() && exchange.session().get() instanceof Credential.Session(String id)) {
            exchange.endsItsRight();
            sessions.end(id);
            audit.record(entry(Kind.SIGNED_OUT, NO_CONTENT, "DELETE").by(exchange.principal()));
            setCookie(exchange, "", 0);
        }
        exchange.answer(NO_CONTENT);
    }

    private void setCookie(Exchange exchange, String value, long seconds) {
        boolean isSecure = origins.isSecure(exchange.request());
        String name = isSecure ? Credentials.SECURE_COOKIE : Credentials.COOKIE;
        exchange.answerHeader(
                "Set-Cookie",
                name + "=" + value + "; Path=/; Max-Age=" + seconds + "; HttpOnly; SameSite=Strict"
                        + (isSecure ? "; Secure" : ""));
    }

    private AuditEntry entry(Kind kind, int outcome, String method) {
        return AuditEntry.of(clock.instant(), kind, outcome, method + " " + ROUTE);
    }
}
