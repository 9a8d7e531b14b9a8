package dev.vivarium.server.preview;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Admission;
import dev.vivarium.server.http.Caller;
import dev.vivarium.server.http.Credential;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.server.Request;

/// Authentication for previews. Thread-safe.
///
/// It tries the token in the query, the server's cookie, `X-API-Key` and `Authorization`, in this order. Credentials
/// that are not the server's belong to the program.
final class PreviewAccess {
    private static final String API_KEY = "x-api-key";
    private static final String AUTHORIZATION = "authorization";
    private static final String BEARER = "bearer ";

    private final Admission admission;

    PreviewAccess(Admission admission) {
        this.admission = admission;
    }

    /// An authenticated caller, its credential, and the headers that the server must not forward.
    record Entry(Caller caller, String credential, Set<String> spent) {
        Sandbox sandbox() {
            return caller.sandbox().orElseThrow();
        }

        Credential shown() {
            return new Credential.Shown(credential);
        }
    }

    /// Returns the credential in the query or the cookie, valid or not.
    static Optional<String> shown(Request request, PreviewQuery query) {
        return query.token()
                .or(() -> Cookies.tickets(request.getHeaders().getValuesList(HttpHeader.COOKIE)).stream()
                        .findFirst());
    }

    Entry enter(Request request, PreviewAddress address, PreviewQuery query) {
        if (query.token().isPresent()) {
            return byToken(address, query.token().get(), request.getHeaders());
        }
        return byCookie(request, address).orElseGet(() -> byHeader(request.getHeaders(), address));
    }

    /// Authorizes an authenticated caller again. Throws if the caller has lost access.
    Caller reauthorize(Entry entry) {
        return admission.admit(entry.sandbox().id().value(), entry.shown(), Scope.PROCESS);
    }

    /// Authenticates a token from the URL. Browsers and proxies store URLs, so API keys, which are long-lived, are
    /// refused.
    Entry byToken(PreviewAddress address, String token, HttpFields headers) {
        Caller caller = admission.admit(address.sandbox(), token, Scope.PROCESS);
        if (!(caller.principal().orElseThrow() instanceof Principal.Holder)) {
            throw refused("an API key must not be in an address; send it as 'Authorization: Bearer KEY'");
        }
        return new Entry(caller, token, ours(headers, address));
    }

    private Optional<Entry> byCookie(Request request, PreviewAddress address) {
        for (String ticket : Cookies.tickets(request.getHeaders().getValuesList(HttpHeader.COOKIE))) {
            Optional<Caller> caller = tryAdmit(address, ticket);
            if (caller.isPresent()) {
                refuseOtherPages(request, address);
                return Optional.of(new Entry(caller.get(), ticket, ours(request.getHeaders(), address)));
            }
        }
        return Optional.empty();
    }

    private Optional<Caller> tryAdmit(PreviewAddress address, String ticket) {
        try {
            return Optional.of(admission.admit(address.sandbox(), ticket, Scope.PROCESS));
        } catch (SandboxException e) {
            // The cookie is expired or was set by another page. A header can still authenticate the request.
            return Optional.empty();
        }
    }

    private Entry byHeader(HttpFields headers, PreviewAddress address) {
        String key = Optional.ofNullable(headers.get(API_KEY))
                .or(() -> bearer(headers))
                .orElseThrow(() -> refused("this preview is private: open it with a link that has '?viv_token=TOKEN',"
                        + " or send 'Authorization: Bearer TOKEN'"));
        Caller caller = admission.admit(address.sandbox(), key, Scope.PROCESS);
        var spent = new HashSet<>(ours(headers, address));
        spent.add(API_KEY);
        if (bearer(headers).filter(key::equals).isPresent()) {
            spent.add(AUTHORIZATION);
        }
        return new Entry(caller, key, spent);
    }

    /// Returns the headers that hold one of the server's credentials, used for this request or not.
    private Set<String> ours(HttpFields headers, PreviewAddress address) {
        var ours = new HashSet<String>();
        if (bearer(headers).filter(value -> isOurs(value, address)).isPresent()) {
            ours.add(AUTHORIZATION);
        }
        if (Optional.ofNullable(headers.get(API_KEY))
                .filter(value -> isOurs(value, address))
                .isPresent()) {
            ours.add(API_KEY);
        }
        return ours;
    }

    private boolean isOurs(String value, PreviewAddress address) {
        try {
            admission.admit(address.sandbox(), value, Scope.PROCESS);
            return true;
        } catch (SandboxException e) {
            // A credential without access to this sandbox is still the server's.
            return !(e.failure() instanceof Failure.NotAuthenticated);
        }
    }

    /// Refuses the cookie for requests from other pages. The browser adds the cookie to every request, and another
    /// sandbox can have a sibling host. Only the preview's own pages and navigations may use it. WebSockets have no
    /// other protection.
    private static void refuseOtherPages(Request request, PreviewAddress address) {
        HttpFields headers = request.getHeaders();
        String origin = headers.get(HttpHeader.ORIGIN);
        boolean otherOrigin = origin != null && !isSameHost(origin, address);
        String site = Optional.ofNullable(headers.get("Sec-Fetch-Site")).orElse("none");
        boolean navigates = "navigate".equals(headers.get("Sec-Fetch-Mode")) && isSafe(request);
        boolean otherSite = !List.of("none", "same-origin").contains(site) && !navigates;
        if (otherOrigin || otherSite) {
            throw new SandboxException(new Failure.NotAllowed("a page from elsewhere may not use this preview"));
        }
    }

    /// Ignores the scheme: only the proxy in front of the server knows whether the client used TLS.
    private static boolean isSameHost(String origin, PreviewAddress address) {
        return origin.substring(origin.indexOf("://") + 1)
                .equalsIgnoreCase(address.origin().substring(address.origin().indexOf("://") + 1));
    }

    static boolean isSafe(Request request) {
        return HttpMethod.GET.is(request.getMethod()) || HttpMethod.HEAD.is(request.getMethod());
    }

    private static Optional<String> bearer(HttpFields headers) {
        return Optional.ofNullable(headers.get(HttpHeader.AUTHORIZATION))
                .filter(value -> value.toLowerCase(Locale.ROOT).startsWith(BEARER))
                .map(value -> value.substring(BEARER.length()).strip());
    }

    private static SandboxException refused(String why) {
        return new SandboxException(new Failure.NotAuthenticated(why));
    }
}
