package dev.vivarium.server.console;

import static dev.vivarium.server.http.Route.Access.OPEN;

import dev.vivarium.core.Digests;
import dev.vivarium.model.RequestFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.Route;
import dev.vivarium.server.settings.PreviewConfig;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/// Handler for the files of the [console][Pages]. Thread-safe.
///
/// Each file has its own route, so no path can reach another file. Browsers revalidate the page at each request. Its
/// assets have a hash in their names and never change.
public final class PagesHandler {
    private static final Pattern HASHED = Pattern.compile("assets/.*");
    private static final String COMPRESSED = ".gz";
    private static final int BUILD_DIGITS = 16;

    private static final Map<String, String> TYPES = Map.ofEntries(
            Map.entry("html", "text/html; charset=utf-8"),
            Map.entry("js", "text/javascript; charset=utf-8"),
            Map.entry("css", "text/css; charset=utf-8"),
            Map.entry("json", "application/json"),
            Map.entry("map", "application/json"),
            Map.entry("webmanifest", "application/manifest+json"),
            Map.entry("svg", "image/svg+xml"),
            Map.entry("png", "image/png"),
            Map.entry("ico", "image/x-icon"),
            Map.entry("woff2", "font/woff2"),
            Map.entry("wasm", "application/wasm"),
            Map.entry("txt", "text/plain; charset=utf-8"));

    private final Pages pages;
    private final String policy;
    private final String indexTag;

    public PagesHandler(Pages pages, PreviewConfig previews) {
        this.pages = pages;
        this.policy = policy(previews);
        this.indexTag = pages.hasConsole() ? tag(pages.read(Pages.INDEX)) : "";
    }

    /// Returns the content security policy. The console loads only its own scripts and may show previews in frames.
    /// No page may show the console in a frame.
    private static String policy(PreviewConfig previews) {
        String hosts = (previews.secure() ? "https" : "http") + "://*." + previews.domain() + ":*";
        // A domain with other characters could add a rule to the policy.
        String frames = hosts.matches("[A-Za-z0-9.:/*-]+") ? "'self' " + hosts : "'self'";
        return "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self';"
                + " connect-src 'self'; frame-src " + frames
                + "; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; object-src 'none'";
    }

    private static String tag(byte[] bytes) {
        return '"' + HexFormat.of().formatHex(Digests.sha256().digest(bytes)) + '"';
    }

    /// Returns the build id, if the server has a console. An open page compares it to detect a new console.
    public Optional<String> build() {
        return pages.hasConsole() ? Optional.of(indexTag.substring(1, 1 + BUILD_DIGITS)) : Optional.empty();
    }

    /// Reports whether the server has a console and the client accepts HTML.
    public boolean acceptsPage(Exchange exchange) {
        return pages.hasConsole() && exchange.accepts("text/html");
    }

    /// Returns the routes of the console: its files and its client-side paths. Empty without a console.
    public List<Route> routes() {
        if (!pages.hasConsole()) {
            return List.of();
        }
        var routes = new ArrayList<Route>();
        for (String name : pages.names()) {
            if (!name.endsWith(COMPRESSED) && !name.equals(Pages.INDEX)) {
                routes.add(Route.undocumented("GET", "/" + name, OPEN, exchange -> file(exchange, name)));
            }
        }
        routes.add(Route.undocumented("GET", "/console", OPEN, this::page));
        routes.add(Route.undocumented("GET", "/console/{rest…}", OPEN, this::page));
        routes.add(Route.undocumented("GET", "/docs", OPEN, this::page));
        return routes;
    }

    /// Sends the page, which does its own routing.
    public void page(Exchange exchange) throws IOException {
        if (!acceptsPage(exchange)) {
            throw new SandboxException(new RequestFailure.NoSuchRoute(
                    "this is a page of the console, for browsers; /openapi.json lists the API"));
        }
        exchange.answerHeader("Cache-Control", "no-cache").answerHeader("ETag", indexTag);
        if (exchange.headerList("If-None-Match")
                .filter(tags -> tags.contains(indexTag))
                .isPresent()) {
            protect(exchange).answerHeader("Vary", "Accept, Accept-Encoding").answer(304);
        } else {
            send(exchange, Pages.INDEX, "Accept, Accept-Encoding");
        }
    }

    private void file(Exchange exchange, String name) throws IOException {
        boolean isHashed = HASHED.matcher(name).matches();
        exchange.answerHeader("Cache-Control", isHashed ? "public, max-age=31536000, immutable" : "no-cache");
        send(exchange, name, "Accept-Encoding");
    }

    private void send(Exchange exchange, String name, String varies) throws IOException {
        protect(exchange).answerHeader("Vary", varies);
        boolean isCompressed = pages.names().contains(name + COMPRESSED) && acceptsGzip(exchange);
        if (isCompressed) {
            exchange.answerHeader("Content-Encoding", "gzip");
        }
        exchange.answer(200, type(name), pages.read(isCompressed ? name + COMPRESSED : name));
    }

    private Exchange protect(Exchange exchange) {
        return exchange.answerHeader("Content-Security-Policy", policy)
                .answerHeader("Referrer-Policy", "no-referrer")
                .answerHeader("Cross-Origin-Opener-Policy", "same-origin")
                .answerHeader("Cross-Origin-Resource-Policy", "same-origin");
    }

    private static boolean acceptsGzip(Exchange exchange) {
        return exchange.headerList("Accept-Encoding").stream()
                .flatMap(list -> List.of(list.split(",")).stream())
                .map(coding -> coding.strip().toLowerCase(Locale.ROOT))
                .anyMatch(coding -> coding.equals("gzip") || coding.matches("gzip;\\s*q=(1|0\\.[0-9]*[1-9]).*"));
    }

    private static String type(String name) {
        String extension = name.substring(name.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
        return TYPES.getOrDefault(extension, "application/octet-stream");
    }
}
