package dev.vivarium.server.console;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.access.AuditEntry.Kind;
import dev.vivarium.core.access.BrowserSessions;
import dev.vivarium.core.access.Principal;
import dev.vivarium.json.Json;
import dev.vivarium.json.ProblemJson;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Credential;
import dev.vivarium.server.http.Credentials;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.Origins;
import dev.vivarium.server.settings.PreviewConfig;
import java.io.IOException;
import java.time.InstantSource;
import java.util.Optional;

/// Handler for `/console/session`. Thread-safe.
///
/// A browser sends a key once and receives a cookie. Scripts cannot read the cookie, and it is valid only for requests
/// from the server's own pages.
public final class SessionHandler {
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
            var fields = exchange.json();
            String key = fields.string("key");
            fields.refuseOthers();
            begun = sessions.begin(key);
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
        exchange.allowQuery();
        Principal who = exchange.principal();
        var session = exchange.session()
                .flatMap(
                        shown -> shown instanceof Credential.Session(String id) ? sessions.find(id) : Optional.empty());
        exchange.answer(200, out -> {
            out.writeStringProperty("user_id", who.name().value());
            out.writeBooleanProperty("is_admin", who instanceof Principal.Admin);
            session.ifPresent(known -> Json.time(out, "expires_at", known.expires()));
            out.writeObjectPropertyStart("server");
            out.writeStringProperty("version", server.version);
            server.build.ifPresent(build -> out.writeStringProperty("build", build));
            out.writeObjectPropertyStart("previews");
            out.writeStringProperty("domain", server.previews.domain());
            out.writeBooleanProperty("is_secure", server.previews.secure());
            out.writeEndObject();
            out.writeEndObject();
        });
    }

    /// `DELETE`: signs out.
    public void signOut(Exchange exchange) throws IOException {
        exchange.allowQuery();
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
