package dev.vivarium.server;

import static dev.vivarium.server.http.Route.Access.KEY;
import static dev.vivarium.server.http.Route.Access.OWN;

import dev.vivarium.core.access.BrowserSessions;
import dev.vivarium.core.access.Keys;
import dev.vivarium.core.store.Db;
import dev.vivarium.server.console.Pages;
import dev.vivarium.server.console.PagesHandler;
import dev.vivarium.server.console.SessionHandler;
import dev.vivarium.server.http.Origins;
import dev.vivarium.server.http.Route;
import dev.vivarium.server.settings.Config;
import dev.vivarium.server.settings.PreviewConfig;
import java.time.InstantSource;
import java.util.List;

/// The routes of what people open in a browser: how they sign in, and the pages they see.
final class ConsoleRoutes {
    private static final String SESSION = "/console/session";

    private ConsoleRoutes() {}

    /// Who is signed in, and which pages are ours.
    record Front(BrowserSessions sessions, Origins origins, PagesHandler pages, PreviewConfig previews) {
        static Front open(Db db, Keys keys, Pages pages, Config config, InstantSource clock) {
            return new Front(
                    new BrowserSessions(db, keys, clock),
                    new Origins(config.access().publicUrl()),
                    new PagesHandler(pages, config.preview()),
                    config.preview());
        }
    }

    static List<Route> of(Routes.Parts parts, InstantSource clock) {
        var front = parts.front();
        var server = new SessionHandler.Server(Version.current(), front.pages().build(), front.previews());
        var session = new SessionHandler(
                front.sessions(), front.origins(), parts.access().audit(), clock, server);
        return List.of(
                Route.post(SESSION, OWN, session::signIn),
                Route.get(SESSION, KEY, session::show),
                Route.delete(SESSION, KEY, session::signOut));
    }
}
