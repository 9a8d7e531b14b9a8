package dev.vivarium.server.http;

import dev.vivarium.model.AccessFailure;
import dev.vivarium.model.SandboxException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;

/// Tells the pages that this server shows itself from all others. A browser adds its cookies to whatever a page asks
/// for, so whoever comes with a cookie must come from a page of ours. Immutable.
///
/// What a browser says of that (`Sec-Fetch-*`, `Origin`) no page can change. Whether it is encrypted on the way is
/// known to the proxy in front of us, not to us: unless the public address says so, both are taken.
public final class Origins {
    private static final Set<String> SAFE = Set.of("GET", "HEAD");

    /// Where what is fetched is run, or becomes part of a page. Nothing that needs a session is meant for that, and
    /// what people keep in sandboxes must not be.
    private static final Set<String> RUN = Set.of(
            "script",
            "style",
            "worker",
            "sharedworker",
            "serviceworker",
            "audioworklet",
            "paintworklet",
            "xslt",
            "manifest",
            "object",
            "embed");

    private final Optional<Origin> publicOrigin;

    /// An origin with the port left out that its scheme has anyway.
    private record Origin(String scheme, String authority) {}

    public Origins(Optional<URI> publicUrl) {
        this.publicOrigin = publicUrl.flatMap(url -> parse(url.getScheme() + "://" + url.getRawAuthority()));
    }

    /// Fails with `wrong-origin` unless a page of ours asks.
    public void require(Request request) {
        if (!isOurs(request)) {
            throw wrong();
        }
    }

    static SandboxException wrong() {
        return new SandboxException(new AccessFailure.WrongOrigin());
    }

    boolean isOurs(Request request) {
        HttpFields headers = request.getHeaders();
        boolean isSafe = SAFE.contains(request.getMethod()) && !headers.contains(HttpHeader.UPGRADE);
        List<String> origins = headers.getValuesList(HttpHeader.ORIGIN);
        boolean isFromUs = origins.isEmpty() ? isSafe : origins.size() == 1 && isOurs(origins.getFirst(), headers);
        return isFromUs
                && isOurSite(headers, isSafe)
                && headers.getValuesList("Sec-Fetch-Dest").stream().noneMatch(RUN::contains);
    }

    /// `none` is somebody who typed the address, or opened a bookmark.
    private static boolean isOurSite(HttpFields headers, boolean isSafe) {
        boolean isTyped = isSafe && "navigate".equals(headers.get("Sec-Fetch-Mode"));
        return headers.getValuesList("Sec-Fetch-Site").stream()
                .allMatch(site -> site.equals("same-origin") || site.equals("none") && isTyped);
    }

    private boolean isOurs(String text, HttpFields headers) {
        Optional<Origin> origin = parse(text);
        if (origin.isEmpty()) {
            return false;
        }
        if (publicOrigin
                .filter(known -> known.authority().equals(origin.get().authority()))
                .isPresent()) {
            return publicOrigin.equals(origin);
        }
        String scheme = origin.get().scheme();
        return Optional.ofNullable(headers.get(HttpHeader.HOST))
                .flatMap(host -> parse(scheme + "://" + host))
                .equals(origin);
    }

    /// Reports whether the browser that asks came by `https`, as far as anybody knows.
    public boolean isSecure(Request request) {
        return Optional.ofNullable(request.getHeaders().get(HttpHeader.ORIGIN))
                .flatMap(Origins::parse)
                .or(() -> publicOrigin)
                .filter(origin -> origin.scheme().equals("https"))
                .isPresent();
    }

    /// Reports whether browsers come by `https` alone.
    boolean isAlwaysSecure() {
        return publicOrigin.filter(origin -> origin.scheme().equals("https")).isPresent();
    }

    private static Optional<Origin> parse(String text) {
        try {
            var uri = new URI(text.toLowerCase(Locale.ROOT));
            String scheme = Optional.ofNullable(uri.getScheme()).orElse("");
            boolean isBare = uri.getHost() != null
                    && uri.getRawUserInfo() == null
                    && uri.getRawPath().isEmpty();
            int usual = scheme.equals("https") ? 443 : 80;
            boolean isUsual = uri.getPort() == -1 || uri.getPort() == usual;
            return isBare && Set.of("http", "https").contains(scheme)
                    ? Optional.of(new Origin(scheme, uri.getHost() + (isUsual ? "" : ":" + uri.getPort())))
                    : Optional.empty();
        } catch (URISyntaxException e) {
            // Also `null`, which a page in a sandbox of the browser says.
            return Optional.empty();
        }
    }
}
