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

/// Lets callers in to a preview: by a token in the query, by our cookie, by `X-API-Key`, or by `Authorization`, in this
/// order. What was not taken as ours belongs to the program. Thread-safe.
final class PreviewAccess {
    private static final String API_KEY = "x-api-key";
    private static final String AUTHORIZATION = "authorization";
    private static final String BEARER = "bearer ";

    private final Admission admission;

    PreviewAccess(Admission admission) {
        this.admission = admission;
    }

    /// Somebody who was let in, by what, and the headers that must not go further.
    record Entry(Caller caller, String credential, Set<String> spent) {
        Sandbox sandbox() {
            return caller.sandbox().orElseThrow();
        }

        Credential shown() {
            return new Credential.Shown(credential);
        }
    }

    /// What the caller shows elsewhere than in a header of its own, good or not.
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

    /// Admits somebody again who was let in before; throws if they may not be there any more.
    Caller enterAgain(Entry entry) {
        return admission.admit(entry.sandbox().id().value(), entry.shown(), Scope.PROCESS);
    }

    /// A token from an address. Addresses are kept in histories and logs, so a key, which lives for long, is
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
            // An old one, or one that another page planted: it opens nothing here, and a header may.
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

    /// The headers that hold something that would open a door of ours, whether or not it was asked for.
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
            // Good for something else is still ours.
            return !(e.failure() instanceof Failure.NotAuthenticated);
        }
    }

    /// The browser adds our cookie to whatever a page asks for. Only the preview's own pages, and people who go
    /// there, may use it: a page of another sandbox may be on a neighbouring host, and WebSockets know no other
    /// protection.
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

    /// Whether it is encrypted on the way is known to the proxy in front of us, not to us.
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
