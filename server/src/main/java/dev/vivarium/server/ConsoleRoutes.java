package dev.vivarium.server;

import static dev.vivarium.server.http.Route.Access.KEY;
import static dev.vivarium.server.http.Route.Access.OPEN;
import static dev.vivarium.server.http.Route.Access.OWN;

import dev.vivarium.server.api.WelcomeHandler;
import dev.vivarium.server.console.PagesHandler;
import dev.vivarium.server.console.SessionHandler;
import dev.vivarium.server.http.Route;
import java.util.List;

/// Routes of the start page and of browser sessions.
final class ConsoleRoutes {
    private static final String SESSION = "/console/session";

    private ConsoleRoutes() {}

    static List<Route> of(PagesHandler pages, SessionHandler session) {
        return List.of(
                Route.get("/", OPEN, new WelcomeHandler(pages)::handle),
                Route.post(SESSION, OWN, session::signIn),
                Route.get(SESSION, KEY, session::show),
                Route.delete(SESSION, KEY, session::signOut));
    }
}
