package dev.vivarium.server.model;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.WorkerGrant;
import dev.vivarium.core.access.WorkerGrant.Audience;
import dev.vivarium.core.access.WorkerTokens;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.server.http.Access;
import dev.vivarium.server.http.Admission;
import dev.vivarium.server.http.Caller;
import dev.vivarium.server.http.Credential;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RateLimits;
import dev.vivarium.server.settings.ModelConfig;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;

/// Handler for `/model/v1/…` on the control ports of sandboxes. Thread-safe.
///
/// An agent authenticates with the token of its run. The server forwards the request with the operator's key, which
/// never enters a sandbox. Every error has the format of the agent's SDK.
public final class ModelHandler implements AutoCloseable {
    private static final int MAX_BODY = 32 * 1024 * 1024;

    /// Time limit for receiving a request body. The request holds memory for this time, even if the agent sends
    /// little.
    private static final Duration BODY_TIMEOUT = Duration.ofSeconds(30);

    /// How long a request waits for memory.
    private static final Duration MEMORY_TIMEOUT = Duration.ofSeconds(30);

    /// Request headers that the server forwards. They contain no key, no cookie and no hop-by-hop header.
    private static final List<String> PASSED = List.of(
            "Content-Type", "Accept", "User-Agent", "Anthropic-Version", "Anthropic-Beta", "OpenAI-Beta", "X-App");

    private static final Pattern PLAIN_VALUE = Pattern.compile("[\\x20-\\x7e]{1,4096}");
    private static final Pattern PLAIN_QUERY = Pattern.compile("[A-Za-z0-9_.=&-]{0,200}");

    private static final int SHOWN_PATH = 100;
    private static final String SERVED = "POST /model/v1/messages, POST /model/v1/messages/count_tokens,"
            + " POST /model/v1/chat/completions and GET /model/v1/models";

    private final ModelConfig config;
    private final Admission admission;
    private final WorkerTokens tokens;
    private final CostRecorder costs;
    private final RateLimits limits;
    private final Audit audit;
    private final InstantSource clock;
    private final Prices prices;
    private final ModelUpstream upstream = new ModelUpstream();
    private final ModelMemoryLimit memoryLimit = new ModelMemoryLimit(MEMORY_TIMEOUT);

    public ModelHandler(
            ModelConfig config,
            Admission admission,
            WorkerTokens tokens,
            CostRecorder costs,
            RateLimits limits,
            Audit audit,
            InstantSource clock) {
        this.config = config;
        this.admission = admission;
        this.tokens = tokens;
        this.costs = costs;
        this.limits = limits;
        this.audit = audit;
        this.clock = clock;
        this.prices = Prices.of(config.prices());
    }

    /// One operation of a model API. Immutable.
    ///
    /// @param isCharged whether the response has a cost
    private record Route(ModelApi dialect, String method, String path, boolean isCharged) {}

    public void messages(Exchange exchange) throws IOException {
        serve(exchange, new Route(ModelApi.ANTHROPIC, "POST", "/v1/messages", true));
    }

    public void countTokens(Exchange exchange) throws IOException {
        serve(exchange, new Route(ModelApi.ANTHROPIC, "POST", "/v1/messages/count_tokens", false));
    }

    public void completions(Exchange exchange) throws IOException {
        serve(exchange, new Route(ModelApi.OPENAI, "POST", "/v1/chat/completions", true));
    }

    /// Both APIs have this route. Only Anthropic's requests have a version header.
    public void models(Exchange exchange) throws IOException {
        serve(exchange, new Route(dialect(exchange), "GET", "/v1/models", false));
    }

    /// Answers unsupported routes in the error format of the SDK.
    public void others(Exchange exchange) throws IOException {
        String method = exchange.request().getMethod();
        String path = "/" + exchange.rawPath("rest");
        // The audit names the template, because method and path are text of the caller.
        var route = new Route(dialect(exchange), dev.vivarium.server.http.Route.ANY, "/{rest…}", false);
        try {
            WorkerGrant grant = admit(exchange, route);
            recordUse(route, grant, ModelError.Kind.NOT_FOUND.status);
            String shown = path.length() <= SHOWN_PATH ? path : path.substring(0, SHOWN_PATH) + "…";
            throw new ModelError(
                    ModelError.Kind.NOT_FOUND, method + " /model" + shown + " is not served here; " + SERVED + " are");
        } catch (ModelError e) {
            answer(exchange, route.dialect(), e);
        }
    }

    private static ModelApi dialect(Exchange exchange) {
        return exchange.header("Anthropic-Version").isPresent() ? ModelApi.ANTHROPIC : ModelApi.OPENAI;
    }

    private void serve(Exchange exchange, Route route) throws IOException {
        // A model can take longer than the idle timeout of the connection, so the model timeout applies.
        exchange.request().addIdleTimeoutListener(_ -> false);
        try {
            serve(exchange, route, admit(exchange, route));
        } catch (ModelError e) {
            if (exchange.response().isCommitted()) {
                throw new IOException(e.sentence(), e);
            }
            answer(exchange, route.dialect(), e);
            if (e.kind() == ModelError.Kind.SLOW) {
                throw new IOException("the rest of the question is not waited for", e);
            }
        }
    }

    /// Serves a call and records it. The entry follows the end of the response, so the agent does not wait for it.
    private void serve(Exchange exchange, Route route, WorkerGrant grant) throws IOException, ModelError {
        int status = ModelRelay.CLIENT_DISCONNECTED;
        try {
            serve(exchange, route, grant.work());
            status = exchange.response().getStatus();
        } catch (ModelError e) {
            status = e.kind().status;
            throw e;
        } finally {
            recordUse(route, grant, status);
        }
    }

    private void serve(Exchange exchange, Route route, WorkerGrant.Work work) throws IOException, ModelError {
        requireRate(exchange, work.sandbox());
        costs.requireFunds(work);
        if (route.method().equals("GET")) {
            ask(exchange, route, ModelRequest.EMPTY, work);
            return;
        }
        try (var _ = memoryLimit.allocate(work.sandbox(), length(exchange))) {
            askReserved(exchange, route, ModelRequest.of(route.dialect(), body(exchange)), work);
        }
    }

    private void recordUse(Route route, WorkerGrant grant, int status) {
        audit.record(entry(route, AuditEntry.Kind.USED, status)
                .onSandbox(grant.sandbox())
                .by(new Principal.Worker(grant)));
    }

    private AuditEntry entry(Route route, AuditEntry.Kind kind, int status) {
        return AuditEntry.of(clock.instant(), kind, status, route.method() + " /model" + route.path());
    }

    /// Authenticates the agent. The sandbox in the token must be the sandbox of the connection.
    private WorkerGrant admit(Exchange exchange, Route route) throws ModelError {
        SandboxId from = exchange.from().orElseThrow(() -> new ModelError(ModelError.Kind.NOT_FOUND, "not here"));
        WorkerGrant grant;
        try {
            grant = verify(exchange);
        } catch (ModelError e) {
            audit.record(entry(route, AuditEntry.Kind.REFUSED, e.kind().status)
                    .onSandbox(from)
                    .byProgramOf(from)
                    .detail("not-authenticated"));
            throw e;
        }
        if (!grant.sandbox().equals(from)) {
            audit.record(entry(route, AuditEntry.Kind.REFUSED, ModelError.Kind.REFUSED.status)
                    .onSandbox(from)
                    .by(new Principal.Worker(grant))
                    .detail("not-allowed"));
            throw new ModelError(ModelError.Kind.REFUSED, "the token is for another sandbox");
        }
        return grant;
    }

    private WorkerGrant verify(Exchange exchange) throws ModelError {
        try {
            String credential = exchange.credential()
                    .orElseThrow(
                            () -> new ModelError(ModelError.Kind.UNKNOWN_CALLER, "the token of the run is needed"));
            return tokens.verify(credential, Audience.MODEL);
        } catch (SandboxException e) {
            throw new ModelError(ModelError.Kind.UNKNOWN_CALLER, e.failure().sentence());
        }
    }

    private void requireRate(Exchange exchange, SandboxId sandbox) throws ModelError {
        Optional<Duration> retryAfter = limits.ask(sandbox);
        if (retryAfter.isPresent()) {
            exchange.answerHeader(
                    "Retry-After", Long.toString(retryAfter.get().plusSeconds(1).toSeconds()));
            throw new ModelError(
                    ModelError.Kind.TOO_MANY, "this sandbox asks too often; wait as long as Retry-After says");
        }
    }

    /// Returns the maximum length of the request body.
    private static long length(Exchange exchange) throws ModelError {
        long length = exchange.contentLength().orElse(MAX_BODY);
        if (length > MAX_BODY) {
            throw new ModelError(ModelError.Kind.TOO_LARGE, "a question may have " + MAX_BODY + " bytes");
        }
        return length;
    }

    private byte[] body(Exchange exchange) throws IOException, ModelError {
        Duration timeout = config.timeout().compareTo(BODY_TIMEOUT) < 0 ? config.timeout() : BODY_TIMEOUT;
        byte[] bytes;
        try {
            bytes = exchange.body(timeout, MAX_BODY + 1);
        } catch (SandboxException e) {
            throw new ModelError(
                    ModelError.Kind.SLOW,
                    "the question did not arrive within " + timeout.toSeconds() + " s; send it faster");
        }
        if (bytes.length > MAX_BODY) {
            throw new ModelError(ModelError.Kind.TOO_LARGE, "a question may have " + MAX_BODY + " bytes");
        }
        return bytes;
    }

    private void askReserved(Exchange exchange, Route route, ModelRequest modelRequest, WorkerGrant.Work work)
            throws IOException, ModelError {
        if (!route.isCharged()) {
            ask(exchange, route, modelRequest, work);
            return;
        }
        var worstCase = prices.priceOf(modelRequest.model()).worstCase(modelRequest.length(), modelRequest.maxTokens());
        try (var _ = costs.reserve(work, worstCase, config.timeout())) {
            costs.begin(work, modelRequest.model());
            ask(exchange, route, modelRequest, work);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    private void ask(Exchange exchange, Route route, ModelRequest modelRequest, WorkerGrant.Work work)
            throws IOException, ModelError {
        var relay = new ModelRelay(exchange, route.dialect(), modelRequest, config);
        long began = System.nanoTime();
        int status = ModelRelay.CLIENT_DISCONNECTED;
        var cancel = new AtomicReference<Runnable>(() -> {});
        try (var _ = hold(exchange, cancel)) {
            var request = request(exchange, route, modelRequest);
            status = relay.pass(upstream.ask(request, config.timeout(), action -> {
                cancel.set(action);
                exchange.onDisconnect(action);
            }));
        } catch (ModelError e) {
            status = e.kind().status;
            throw e;
        } finally {
            if (route.isCharged()) {
                var took = Duration.ofNanos(System.nanoTime() - began);
                var tally = relay.tally();
                if (status == ModelRelay.CLIENT_DISCONNECTED) {
                    // The model still runs for a while after the agent disconnects, and its provider charges for the
                    // input.
                    tally.begun();
                }
                costs.enter(
                        work,
                        new CostRecorder.Call(
                                tally.usage(modelRequest.length(), prices), tally.isEstimated(), status, took));
            }
            relay.finish();
        }
    }

    /// Cancels the call when the run ends and its token is revoked.
    private Access hold(Exchange exchange, AtomicReference<Runnable> cancel) {
        String token = exchange.credential().orElseThrow();
        var caller = Caller.of(new Principal.Worker(tokens.verify(token, Audience.MODEL)));
        return admission.hold(
                caller,
                new Credential.Shown(token),
                () -> Caller.of(new Principal.Worker(tokens.verify(token, Audience.MODEL))),
                _ -> cancel.get().run());
    }

    private HttpRequest request(Exchange exchange, Route route, ModelRequest modelRequest) throws ModelError {
        var provider = provider(route.dialect());
        String query = exchange.rawQuery().orElse("");
        if (!PLAIN_QUERY.matcher(query).matches()) {
            throw new ModelError(ModelError.Kind.MALFORMED, "the query has characters that are not passed on");
        }
        if (provider.key().isEmpty() && provider.isVendor()) {
            throw new ModelError(
                    ModelError.Kind.REFUSED, "the operator of this server has set no key for " + provider.setting());
        }
        URI to = URI.create(provider.url() + route.path() + (query.isEmpty() ? "" : "?" + query));
        var builder = HttpRequest.newBuilder(to)
                // Without TLS, the client would try an upgrade to HTTP/2, which few providers support.
                .version("https".equals(to.getScheme()) ? HttpClient.Version.HTTP_2 : HttpClient.Version.HTTP_1_1)
                .method(
                        route.method(),
                        modelRequest.body().map(BodyPublishers::ofByteArray).orElse(BodyPublishers.noBody()));
        for (String name : PASSED) {
            exchange.header(name)
                    .filter(value -> PLAIN_VALUE.matcher(value).matches())
                    .ifPresent(value -> builder.setHeader(name, value));
        }
        provider.key().ifPresent(key -> route.dialect().authorize(builder, key));
        return builder.build();
    }

    private ModelConfig.Provider provider(ModelApi dialect) {
        return switch (dialect) {
            case ANTHROPIC -> config.anthropic();
            case OPENAI -> config.openai();
        };
    }

    private static void answer(Exchange exchange, ModelApi dialect, ModelError error) throws IOException {
        if (error.kind() == ModelError.Kind.FULL) {
            exchange.answerHeader("Retry-After", "1");
        }
        byte[] body = dialect.error(dialect.errorType(error.kind()), error.sentence());
        exchange.answer(error.kind().status, "application/json", body);
    }

    /// Cancels all calls. Idempotent.
    @Override
    public void close() {
        upstream.close();
    }
}
