package dev.vivarium.server.preview;

import dev.vivarium.core.access.Principal;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import org.eclipse.jetty.http.HttpStatus;

/// Sign-in of a browser with a token in the URL. Thread-safe.
///
/// It sets a cookie that scripts cannot read, and sends the browser to the same URL without the token.
final class PreviewSignIn {
    private static final String HTML = "text/html; charset=utf-8";

    private final InstantSource clock;

    PreviewSignIn(InstantSource clock) {
        this.clock = clock;
    }

    void answer(Exchange exchange, PreviewAddress address, PreviewAccess.Entry entry, String target)
            throws IOException {
        exchange.answerHeader("Set-Cookie", cookie(address, entry, isInForeignFrame(exchange, address)));
        exchange.answerHeader("Referrer-Policy", "no-referrer");
        exchange.answerHeader("Content-Security-Policy", "default-src 'none'");
        String url = address.origin() + target;
        if (comesFromElsewhere(exchange)) {
            // A browser counts a redirect as cross-site and does not send the new cookie.
            exchange.answer(HttpStatus.OK_200, HTML, page(url).getBytes(StandardCharsets.UTF_8));
        } else {
            exchange.answerHeader("Location", url);
            exchange.answer(HttpStatus.SEE_OTHER_303, HTML, new byte[0]);
        }
    }

    private String cookie(PreviewAddress address, PreviewAccess.Entry entry, boolean isFramed) {
        String lifetime = expiry(entry)
                .map(end -> "; Max-Age="
                        + Math.max(1, Duration.between(clock.instant(), end).toSeconds()))
                .orElse("");
        String secure = isFramed || address.origin().startsWith("https:") ? "; Secure" : "";
        String site = isFramed ? "; SameSite=None; Partitioned" : "; SameSite=Strict";
        return Cookies.OURS + "=" + entry.credential() + "; Path=" + address.root() + "; HttpOnly" + site + lifetime
                + secure;
    }

    /// Reports whether a page of another site, such as the console, shows the preview in a frame. The browser sends
    /// no `Strict` cookie there. It sends a partitioned cookie only in frames of that site.
    private static boolean isInForeignFrame(Exchange exchange, PreviewAddress address) {
        return exchange.header("Sec-Fetch-Dest").filter("iframe"::equals).isPresent()
                && comesFromElsewhere(exchange)
                && !address.sharesOrigin()
                && address.isTrusted();
    }

    private static Optional<Instant> expiry(PreviewAccess.Entry entry) {
        return entry.caller().principal().orElseThrow() instanceof Principal.Holder(var grant)
                ? Optional.of(grant.expires())
                : Optional.empty();
    }

    private static boolean comesFromElsewhere(Exchange exchange) {
        String site = exchange.header("Sec-Fetch-Site").orElse("none");
        return site.equals("cross-site") || site.equals("same-site");
    }

    private static String page(String url) {
        String escaped = url.replace("&", "&amp;")
                .replace("\"", "&quot;")
                .replace("'", "&#39;")
                .replace("<", "&lt;")
                .replace(">", "&gt;");
        return "<!doctype html><meta http-equiv=\"refresh\" content=\"0; url=" + escaped + "\"><title>Preview</title>"
                + "<a href=\"" + escaped + "\">Go on to the preview</a>";
    }
}
