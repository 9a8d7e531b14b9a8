package dev.vivarium.server.preview;

import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Predicate;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.server.Request;

/// Filter for the headers of previews. Stateless.
///
/// It drops hop-by-hop headers, replaces headers that identify the proxy, and removes headers that affect more than the
/// program's own pages.
final class Headers {
    /// Sandbox policy for a page that shares an origin with the API. The page runs scripts in an opaque origin: it
    /// cannot read the console's storage or cookies, and its API calls are cross-origin.
    static final String SANDBOX_POLICY =
            "sandbox allow-scripts allow-forms allow-popups allow-modals allow-downloads allow-pointer-lock";

    private static final String UPGRADE = "upgrade";

    private static final Set<String> HOP_BY_HOP = Set.of(
            "connection",
            "keep-alive",
            "proxy-connection",
            "proxy-authenticate",
            "proxy-authorization",
            "proxy-authentication-info",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade",
            "http2-settings");

    /// Headers that the server sets or drops, because programs trust them.
    private static final Set<String> RESERVED =
            Set.of("host", "content-length", "expect", "forwarded", "via", "cookie");

    private static final String[] RESERVED_PREFIXES = {"x-forwarded-", "x-real-ip", "x-original-", "x-rewrite-"};

    /// Response headers that would affect other pages of the origin, allow caching, or redirect a browser or proxy.
    private static final Set<String> DROPPED = Set.of(
            "set-cookie",
            "set-cookie2",
            "content-length",
            "cache-control",
            "expires",
            "pragma",
            "surrogate-control",
            "cdn-cache-control",
            "alt-svc",
            "strict-transport-security",
            "public-key-pins",
            "x-request-id",
            "x-accel-redirect",
            "x-sendfile",
            // A browser would ask the user for a password of this server.
            "www-authenticate",
            "authentication-info");

    /// Further response headers that the server drops if the origin is shared.
    private static final Set<String> DROPPED_ON_SHARED_ORIGIN = Set.of(
            "clear-site-data",
            "service-worker-allowed",
            "nel",
            "report-to",
            "reporting-endpoints",
            "origin-agent-cluster",
            "x-content-type-options");

    private Headers() {}

    /// Returns the protocol of an upgrade request, or "" if the server cannot tunnel it.
    static String upgrade(Request request) {
        HttpFields headers = request.getHeaders();
        boolean asked = headers.contains(HttpHeader.CONNECTION, UPGRADE)
                && request.getConnectionMetaData().getHttpVersion() == HttpVersion.HTTP_1_1
                && request.getLength() <= 0
                && !headers.contains(HttpHeader.TRANSFER_ENCODING);
        String protocol = headers.get(HttpHeader.UPGRADE);
        // h2c would carry many requests in one connection, and browsers do not use it.
        return asked && protocol != null && !protocol.toLowerCase(Locale.ROOT).contains("h2c") ? protocol : "";
    }

    /// Returns the headers for the program. `spent` names the headers that held one of the server's credentials.
    static HttpFields inward(Request request, PreviewAddress address, Set<String> spent) {
        HttpFields headers = request.getHeaders();
        Set<String> hop = hopByHop(headers);
        Predicate<String> isDropped =
                name -> hop.contains(name) || RESERVED.contains(name) || spent.contains(name) || isReserved(name);
        HttpFields.Mutable inward = HttpFields.build();
        inward.put(HttpHeader.HOST, address.innerHost());
        for (HttpField field : headers) {
            String name = field.getLowerCaseName();
            if (!isDropped.test(name)) {
                inward.add(inward(field, address));
            }
        }
        Cookies.inward(headers.getValuesList(HttpHeader.COOKIE), address)
                .forEach(cookies -> inward.put(HttpHeader.COOKIE, cookies));
        forwarded(inward, request, address);
        connection(inward, upgrade(request));
        return inward;
    }

    /// Rewrites `Origin` and `Referer` to the program's own origin, and removes the token from `Referer`.
    private static HttpField inward(HttpField field, PreviewAddress address) {
        return switch (field.getLowerCaseName()) {
            case "origin" -> new HttpField(field.getName(), address.inward(value(field)));
            case "referer" -> new HttpField(field.getName(), address.inward(PreviewQuery.withoutToken(value(field))));
            default -> field;
        };
    }

    private static void forwarded(HttpFields.Mutable inward, Request request, PreviewAddress address) {
        String origin = address.origin();
        int colon = origin.indexOf("://");
        inward.put(HttpHeader.X_FORWARDED_FOR, Request.getRemoteAddr(request));
        inward.put(HttpHeader.X_FORWARDED_PROTO, origin.substring(0, colon));
        inward.put(HttpHeader.X_FORWARDED_HOST, origin.substring(colon + 3));
        if (address.sharesOrigin()) {
            inward.put("X-Forwarded-Prefix", address.prefix());
        }
    }

    private static void connection(HttpFields.Mutable inward, String upgrade) {
        if (upgrade.isEmpty()) {
            inward.put(HttpHeader.CONNECTION, "close");
        } else {
            inward.put(HttpHeader.CONNECTION, "Upgrade");
            inward.put(HttpHeader.UPGRADE, upgrade);
        }
    }

    /// Adds the headers of the program's response to `outward`.
    static void outward(ResponseHead answer, PreviewAddress address, HttpFields.Mutable outward) {
        HttpFields headers = answer.headers();
        Set<String> dropped = hopByHop(headers);
        dropped.addAll(DROPPED);
        if (address.sharesOrigin()) {
            dropped.addAll(DROPPED_ON_SHARED_ORIGIN);
        } else {
            outward.remove("X-Content-Type-Options");
        }
        for (HttpField field : headers) {
            if (!dropped.contains(field.getLowerCaseName())) {
                boolean isLocation = field.getHeader() == HttpHeader.LOCATION;
                outward.add(isLocation ? new HttpField(field.getName(), address.outward(value(field))) : field);
            }
        }
        for (String cookie : headers.getValuesList(HttpHeader.SET_COOKIE)) {
            Cookies.outward(cookie, address).forEach(confined -> outward.add(HttpHeader.SET_COOKIE, confined));
        }
        addOwn(answer, address, outward);
    }

    private static void addOwn(ResponseHead answer, PreviewAddress address, HttpFields.Mutable outward) {
        outward.put(HttpHeader.CACHE_CONTROL, "no-store");
        if (address.sharesOrigin()) {
            // In addition to the program's own policy: browsers enforce both.
            outward.add("Content-Security-Policy", SANDBOX_POLICY);
        }
        String length = answer.headers().get(HttpHeader.CONTENT_LENGTH);
        if (length != null && answer.mayHaveLength()) {
            outward.put(HttpHeader.CONTENT_LENGTH, length);
        }
        if (answer.isUpgrade()) {
            outward.put(HttpHeader.CONNECTION, "Upgrade");
            outward.put(HttpHeader.UPGRADE, value(answer.headers().getField(HttpHeader.UPGRADE)));
        }
    }

    /// Returns the hop-by-hop header names, including those that `Connection` lists.
    private static Set<String> hopByHop(HttpFields headers) {
        Set<String> names = new HashSet<>(HOP_BY_HOP);
        for (String listed : headers.getCSV(HttpHeader.CONNECTION, false)) {
            names.add(listed.strip().toLowerCase(Locale.ROOT));
        }
        return names;
    }

    private static boolean isReserved(String name) {
        return List.of(RESERVED_PREFIXES).stream().anyMatch(name::startsWith);
    }

    private static String value(HttpField field) {
        return field.getValue() == null ? "" : field.getValue();
    }
}
