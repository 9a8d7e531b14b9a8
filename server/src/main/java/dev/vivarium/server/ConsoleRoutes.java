package dev.vivarium.server;

import static dev.vivarium.server.http.Route.Access.KEY;
import static dev.vivarium.server.http.Route.Access.OWN;

import dev.vivarium.core.access.BrowserSessions;
import dev.vivarium.core.access.Keys;
import dev.vivarium.core.store.Db;
import dev.vivarium.server.console.SessionHandler;
import dev.vivarium.server.http.Origins;
import dev.vivarium.server.http.Route;
import dev.vivarium.server.settings.Config;
import java.time.InstantSource;
import java.util.List;

/// The routes by which people sign in with a browser.
final class ConsoleRoutes {
    private static final String SESSION = "/console/session";

    private ConsoleRoutes() {}

    /// Who is signed in, and which pages are ours.
    record Front(BrowserSessions sessions, Origins origins) {
        static Front open(Db db, Keys keys, Config config, InstantSource clock) {
            return new Front(
                    new BrowserSessions(db, keys, clock),
                    new Origins(config.access().publicUrl()));
        }
    }

    static List<Route> of(Routes.Parts parts, InstantSource clock) {
        var front = parts.front();
        var session = new SessionHandler(
                front.sessions(), front.origins(), parts.access().audit(), clock, Version.current());
        return List.of(
                Route.post(SESSION, OWN, session::signIn),
                Route.get(SESSION, KEY, session::show),
                Route.delete(SESSION, KEY, session::signOut));
    }
}
