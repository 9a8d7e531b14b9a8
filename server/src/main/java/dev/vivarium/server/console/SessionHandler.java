package dev.vivarium.server.console;

import static dev.vivarium.json.IdTypes.USER_ID;
import static dev.vivarium.json.JsonType.BOOLEAN;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.TIME;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.model.Failure.InvalidRequest.require;
import static dev.vivarium.server.http.Route.Access.KEY;
import static dev.vivarium.server.http.Route.Access.OWN;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.access.AuditEntry.Kind;
import dev.vivarium.core.access.BrowserSessions;
import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.SignInCodes;
import dev.vivarium.json.JsonFields;
import dev.vivarium.json.ObjectType;
import dev.vivarium.json.ProblemJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Credential;
import dev.vivarium.server.http.Credentials;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.Origins;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.settings.PreviewConfig;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.regex.Pattern;

/// Handler for `/console/session`. Thread-safe.
///
/// A browser sends a key once and receives a cookie. Scripts cannot read the cookie, and it is valid only for requests
/// from the server's own pages.
public final class SessionHandler {
    private static final ObjectType<SignIn> SIGN_IN_REQUEST = ObjectType.<SignIn>object(
                    "SignIn",
                    optional("key", STRING, "An API key. Either `key` or `code` is needed."),
                    optional("code", STRING, "The code of a sign-in link."))
            .readBy(SignIn::read)
            .closed();
    private static final ObjectType<String> CODE_REQUEST = ObjectType.<String>object(
                    "SignInLinkRequest", optional("next", STRING, "The page of the console to open: `/console…`."))
            .readBy(fields -> fields.optionalString("next").orElse(""))
            .closed();
    private static final ObjectType<Link> LINK = object(
            "SignInLink",
            field("path", STRING, "The path of the link, with the code in its fragment.", Link::path),
            field("expires_at", TIME, Link::expires));
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

    /// Exactly one of both is present.
    private record SignIn(Optional<String> key, Optional<String> code) {
        static SignIn read(JsonFields fields) {
            var given = new SignIn(fields.optionalString("key"), fields.optionalString("code"));
            require(given.key().isPresent() != given.code().isPresent(), "key", "or code must be given, and not both");
            return given;
        }
    }

    /// Link to the console that signs a browser in.
    private record Link(String path, Instant expires) {}

    private record Caller(Principal who, Optional<Instant> expires, Server server) {}

    public static final RouteDescription SIGN_IN = RouteDescription.post("/console/session", OWN)
            .named("signIn", "Sign in a browser")
            .text("""
                    For pages of this server. The browser sends a key, or the code of a sign-in link, and receives a \
                    cookie that scripts cannot read. The session expires after 12 hours and ends with the key. A key has at most 100 \
                    sessions; a new one replaces the oldest.""")
            .withoutCredential()
            .takes(SIGN_IN_REQUEST)
            .answers(204, "The browser is signed in.")
            .withHeader("Set-Cookie", STRING)
            .fails(403, "`wrong-origin`: the page has another origin.")
            .fails(400, 401, 429, 503);

    public static final RouteDescription CODE = RouteDescription.post("/console/session/code", KEY)
            .named("makeSignInLink", "Make a link that signs a browser in")
            .text("""
                    The link opens the console with the rights of the key. It works once and expires after five \
                    minutes. A key has at most ten unused links; a new one replaces the oldest.""")
            .takesOptional(CODE_REQUEST)
            .answers(201, "The link, relative to the address of the server.", LINK)
            .fails(400);

    public static final RouteDescription SHOW = RouteDescription.get("/console/session", KEY)
            .named("showSession", "Return the caller")
            .answers(200, "The caller, by key or by session.", BROWSER_SESSION)
            .fails(403, "`wrong-origin`: the page has another origin.");

    public static final RouteDescription SIGN_OUT = RouteDescription.delete("/console/session", KEY)
            .named("signOut", "Sign out a browser")
            .answers(204, "The browser is signed out.")
            .fails(403, "`wrong-origin`: the page has another origin.");

    private static final String ROUTE = "/console/session";
    private static final int NO_CONTENT = 204;
    private static final int CREATED = 201;
    private static final Pattern PAGE = Pattern.compile("/console([/?][A-Za-z0-9/?=&._~-]*)?");

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
            SignIn given = exchange.json(SIGN_IN_REQUEST);
            exchange.setCredential(given.code().or(given::key).orElseThrow());
            begun = given.code().isPresent()
                    ? sessions.beginWithCode(given.code().get())
                    : sessions.begin(given.key().orElseThrow());
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

    /// `POST …/code`: makes a link for the caller's key. A session cannot make one: its page needs none.
    public void makeLink(Exchange exchange) throws IOException {
        String next = exchange.optionalJson(CODE_REQUEST);
        require(next.isEmpty() || PAGE.matcher(next).matches(), "next", "must be a page of the console");
        String key = exchange.credential()
                .orElseThrow(() -> new SandboxException(
                        new Failure.NotAuthenticated("a sign-in link needs an API key, not a session")));
        var code = sessions.issueCode(key);
        audit.record(AuditEntry.of(clock.instant(), Kind.ISSUED, CREATED, "POST " + ROUTE + "/code")
                .by(exchange.principal())
                .detail("sign-in link until " + code.expires()));
        exchange.answer(CREATED, LINK, new Link(link(code, next), code.expires()));
    }

    /// Returns the path of a link with a code. The code is in the fragment, which browsers do not send, so that no
    /// log contains it.
    public static String link(SignInCodes.Code code, String next) {
        String query = next.isEmpty() ? "" : "?next=" + URLEncoder.encode(next, StandardCharsets.UTF_8);
        return "/console/sign-in" + query + "#code=" + code.text();
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
            exchange.keepOpenAfterRevocation();
            sessions.end(id);
            exchange.markAudited();
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
