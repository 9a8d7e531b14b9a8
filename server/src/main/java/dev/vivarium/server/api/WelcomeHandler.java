package dev.vivarium.server.api;

import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.server.http.Route.Access.OPEN;

import dev.vivarium.json.ObjectType;
import dev.vivarium.server.console.PagesHandler;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import java.io.IOException;
import java.util.function.Function;

/// `GET /`: the console for browsers, if the server has one, and the entry points for other clients. Thread-safe.
public final class WelcomeHandler {
    private static final ObjectType<String> ENTRY_POINTS = object(
            "Welcome",
            field("name", STRING, Function.identity()),
            field("description", STRING, name -> "A self-hosted sandbox server for AI agents."),
            field("openapi", STRING, name -> "/openapi.json"),
            field("health", STRING, name -> "/health"));

    public static final RouteDescription WELCOME = RouteDescription.get("/", OPEN)
            .named("welcome", "List the entry points of the server")
            .text("""
                    If a browser asks for `text/html` and the server has a console, the response is the console.""")
            .answers(200, "The name of the server and the paths to start from.", ENTRY_POINTS)
            .also("text/html", STRING);

    private final PagesHandler pages;

    public WelcomeHandler(PagesHandler pages) {
        this.pages = pages;
    }

    public void handle(Exchange exchange) throws IOException {
        if (pages.acceptsPage(exchange)) {
            pages.page(exchange);
            return;
        }
        exchange.answer(200, ENTRY_POINTS, "vivarium");
    }
}
