package dev.vivarium.server;

import dev.vivarium.server.api.WelcomeHandler;
import dev.vivarium.server.console.PagesHandler;
import dev.vivarium.server.console.SessionHandler;
import dev.vivarium.server.http.Route;
import java.util.List;

/// Routes of the start page and of browser sessions. Stateless.
final class ConsoleRoutes {
    private ConsoleRoutes() {}

    static List<Route> of(PagesHandler pages, SessionHandler session) {
        return List.of(
                WelcomeHandler.WELCOME.to(new WelcomeHandler(pages)::handle),
                SessionHandler.SIGN_IN.to(session::signIn),
                SessionHandler.SHOW.to(session::show),
                SessionHandler.SIGN_OUT.to(session::signOut));
    }
}
