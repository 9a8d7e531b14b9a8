package dev.vivarium.core.git;

import dev.vivarium.core.egress.OutboundException;
import dev.vivarium.core.egress.OutboundHttp;
import dev.vivarium.model.GitCredential;
import dev.vivarium.model.GitFailure;
import dev.vivarium.model.HostName;
import dev.vivarium.model.RepositoryUrl;
import dev.vivarium.model.SandboxException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Remote repository with a credential, which the server adds to every request. Thread-safe.
public final class Remote {
    private static final int MAX_ADVERTISEMENT = 64 * 1024 * 1024;
    private static final int MAX_API = 16 * 1024 * 1024;
    private static final int OK = 200;
    private static final int UNAUTHORIZED = 401;
    private static final int FORBIDDEN = 403;
    private static final int NOT_FOUND = 404;
    private static final String AGENT = "vivarium";

    private final RepositoryUrl url;
    private final GitSecret secret;
    private final OutboundHttp http;
    private final Remotes limits;

    Remote(RepositoryUrl url, GitSecret secret, OutboundHttp http, Remotes limits) {
        this.url = url;
        this.secret = secret;
        this.http = http;
        this.limits = limits;
    }

    public RepositoryUrl url() {
        return url;
    }

    public GitCredential credential() {
        return secret.info();
    }

    GitSecret secret() {
        return secret;
    }

    /// Advertisement of the references of a remote, and the address that sent it.
    record Advertised(RefAdvertisement refs, InetAddress address) {}

    /// Returns the references of the remote, which thereby accepts the credential. Fails with `remote-refused`,
    /// `not-on-remote`, `remote-failed` or `remote-timed-out`.
    public RefAdvertisement refs() {
        return advertised().refs;
    }

    Advertised advertised() {
        try (var response = info(Transfer.FETCH, Optional.empty())) {
            byte[] body = read(response, MAX_ADVERTISEMENT);
            return new Advertised(RefAdvertisement.of(body), response.address());
        } catch (IllegalArgumentException e) {
            throw failed(e.getMessage());
        }
    }

    /// Requests the references of the remote for a service. The response has the status 200 and the type of the
    /// service. Close it.
    ///
    /// @param protocol value of the header `Git-Protocol`
    public OutboundHttp.Response info(Transfer service, Optional<String> protocol) {
        var headers = gitHeaders();
        protocol.ifPresent(value -> headers.put("Git-Protocol", value));
        String path = url.path() + "/info/refs?service=" + service.text();
        var response = send(new OutboundHttp.Request("GET", path, headers, Optional.empty()), limits.call());
        return accepted(response, service.advertisementType());
    }

    /// Sends a request of git, and returns the response, which has the status 200 and the type of the service.
    /// Close it.
    ///
    /// @param more headers of the request: `Content-Encoding` and `Git-Protocol`
    public OutboundHttp.Response call(Transfer service, Map<String, String> more, OutboundHttp.Body body) {
        var headers = gitHeaders();
        headers.putAll(more);
        headers.put("Content-Type", service.requestType());
        headers.put("Accept", service.resultType());
        var request = new OutboundHttp.Request("POST", url.path() + "/" + service.text(), headers, Optional.of(body));
        return accepted(send(request, limits.transfer()), service.resultType());
    }

    private Map<String, String> gitHeaders() {
        // Some hosts serve the dumb protocol to programs that do not look like git.
        return new HashMap<>(Map.of("User-Agent", "git/" + AGENT, "Authorization", secret.basic()));
    }

    private OutboundHttp.Response accepted(OutboundHttp.Response response, String type) {
        try {
            requireStatus(response.status());
            String actual =
                    response.header("Content-Type").orElse("").split(";")[0].strip();
            if (!actual.equalsIgnoreCase(type)) {
                throw failed("its response is not from a git server");
            }
            return response;
        } catch (SandboxException e) {
            response.close();
            throw e;
        }
    }

    private void requireStatus(int status) {
        switch (status) {
            case OK -> {}
            case UNAUTHORIZED ->
                throw refused("the credential '" + secret.info().name() + "' is not accepted");
            case FORBIDDEN -> throw refused("the credential '" + secret.info().name() + "' does not permit it");
            case NOT_FOUND -> throw new SandboxException(new GitFailure.NotOnRemote("the repository " + url));
            case 301, 302, 303, 307, 308 ->
                throw refused("it redirects " + url + " to another address; use that address");
            default -> throw failed("status " + status);
        }
    }

    /// Response of the API of a forge. Immutable.
    ///
    /// @param text the body, usually JSON
    public record ApiResponse(int status, String text) {}

    /// Calls the API of the forge.
    ///
    /// @param path path and query, from the root of the host, or of `api.github.com`
    /// @param json body of the request
    public ApiResponse api(String method, String path, Optional<String> json) {
        var headers =
                new HashMap<>(Map.of("User-Agent", AGENT, "Authorization", secret.api(), "Accept", "application/json"));
        if (json.isPresent()) {
            headers.put("Content-Type", "application/json");
        }
        var body = json.map(text -> OutboundHttp.Body.of(text.getBytes(StandardCharsets.UTF_8)));
        var request = new OutboundHttp.Request(method, path, headers, body);
        try (var response = send(apiTarget(), request, limits.call())) {
            return new ApiResponse(response.status(), new String(read(response, MAX_API), StandardCharsets.UTF_8));
        }
    }

    /// GitHub serves the API of github.com on another host.
    private OutboundHttp.Target apiTarget() {
        return isGitHub() ? new OutboundHttp.Target(true, HostName.of("api.github.com"), 443) : target();
    }

    /// Reports whether the host is github.com. Servers of GitHub Enterprise have another API address.
    public boolean isGitHub() {
        return secret.info().forge() == GitCredential.Forge.GITHUB
                && url.host().text().equals("github.com");
    }

    private OutboundHttp.Target target() {
        return new OutboundHttp.Target(url.isTls(), url.host(), url.port());
    }

    private OutboundHttp.Response send(OutboundHttp.Request request, OutboundHttp.Limits within) {
        return send(target(), request, within);
    }

    private OutboundHttp.Response send(
            OutboundHttp.Target to, OutboundHttp.Request request, OutboundHttp.Limits within) {
        try {
            return http.send(to, request, within);
        } catch (OutboundException e) {
            throw failure(e, within);
        }
    }

    private SandboxException failure(OutboundException e, OutboundHttp.Limits within) {
        String host = url.authority();
        String message = String.valueOf(e.getMessage());
        return switch (e.kind()) {
            case REFUSED -> SandboxException.invalid("repository.url", "cannot be used: " + message);
            case TIMED_OUT ->
                new SandboxException(
                        new GitFailure.RemoteTimedOut(host, within.idle().toSeconds()), e);
            case FAILED -> new SandboxException(new GitFailure.RemoteFailed(host, message), e);
        };
    }

    private byte[] read(OutboundHttp.Response response, int max) {
        var bytes = new ByteArrayOutputStream();
        try {
            response.copyTo(new BoundedCopy(bytes, max));
        } catch (OutboundException e) {
            throw failure(e, limits.call());
        } catch (IOException e) {
            throw failed(String.valueOf(e.getMessage()));
        }
        return bytes.toByteArray();
    }

    /// Output that fails beyond a limit.
    private static final class BoundedCopy extends OutputStream {
        private final ByteArrayOutputStream out;
        private final int max;

        BoundedCopy(ByteArrayOutputStream out, int max) {
            this.out = out;
            this.max = max;
        }

        @Override
        public void write(int value) throws IOException {
            write(new byte[] {(byte) value}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            if (out.size() + length > max) {
                throw new IOException("its response is longer than " + max + " bytes");
            }
            out.write(bytes, offset, length);
        }
    }

    /// Returns the failure of a forge that refused a request.
    public SandboxException refused(String reason) {
        return new SandboxException(new GitFailure.RemoteRefused(url.authority(), masked(reason)));
    }

    /// Returns the failure of a forge whose response is invalid.
    public SandboxException failed(@Nullable String reason) {
        return new SandboxException(new GitFailure.RemoteFailed(url.authority(), masked(String.valueOf(reason))));
    }

    /// A host may repeat the token in its errors.
    private String masked(String text) {
        String clean = text;
        for (String hidden : List.of(secret.token(), secret.basic().substring("Basic ".length()))) {
            clean = clean.replace(hidden, "***");
        }
        return clean;
    }
}
