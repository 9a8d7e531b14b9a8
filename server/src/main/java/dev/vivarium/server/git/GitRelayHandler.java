package dev.vivarium.server.git;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.egress.OutboundHttp;
import dev.vivarium.core.git.HostGit;
import dev.vivarium.core.git.Mirrors;
import dev.vivarium.core.git.PushCommands;
import dev.vivarium.core.git.RelayAccess;
import dev.vivarium.core.git.Remote;
import dev.vivarium.core.git.Remotes;
import dev.vivarium.core.git.Transfer;
import dev.vivarium.json.ProblemJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.RunRepository;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;

/// Handler for `/git/{repository}/…` on the control ports of sandboxes: git over HTTP to the remote of a run.
/// Thread-safe.
///
/// The connection identifies the sandbox, so programs inside need no token. The server adds the credential, which never
/// enters a sandbox. A push to any other branch than that of the run is rejected in the form that git shows.
public final class GitRelayHandler {
    private static final int UNAUTHORIZED = 401;
    private static final int FORBIDDEN = 403;
    private static final Pattern PROTOCOL = Pattern.compile("[a-z0-9=:.-]{1,100}");
    private static final String TEXT = "text/plain; charset=utf-8";
    private static final String NO_CACHE = "no-cache";

    private final RelayAccess access;
    private final Remotes remotes;
    private final Mirrors mirrors;
    private final HostGit git;
    private final Audit audit;
    private final InstantSource clock;

    public GitRelayHandler(
            RelayAccess access, Remotes remotes, Mirrors mirrors, HostGit git, Audit audit, InstantSource clock) {
        this.access = access;
        this.remotes = remotes;
        this.mirrors = mirrors;
        this.git = git;
        this.audit = audit;
        this.clock = clock;
    }

    /// One request of a program inside.
    private record Call(Exchange exchange, RunRepository work, Remote remote) {
        Optional<String> protocol() {
            return exchange.header("Git-Protocol")
                    .filter(value -> PROTOCOL.matcher(value).matches());
        }
    }

    /// Operation on a call.
    private interface Operation {
        void handle(Call call) throws IOException;
    }

    /// `GET /git/{repository}/info/refs?service=…`.
    public void info(Exchange exchange) throws IOException {
        serve(exchange, "GET /git/{repository}/info/refs", this::info);
    }

    /// `POST /git/{repository}/git-upload-pack`.
    public void fetch(Exchange exchange) throws IOException {
        serve(exchange, "POST /git/{repository}/git-upload-pack", this::fetch);
    }

    /// `POST /git/{repository}/git-receive-pack`.
    public void push(Exchange exchange) throws IOException {
        serve(exchange, "POST /git/{repository}/git-receive-pack", this::push);
    }

    /// All other requests.
    public void others(Exchange exchange) throws IOException {
        exchange.answer(
                404,
                TEXT,
                bytes("only git over HTTP is served here: info/refs, git-upload-pack and" + " git-receive-pack"));
    }

    private void serve(Exchange exchange, String route, Operation operation) throws IOException {
        // A remote can take longer than the idle timeout of the connection, so the timeout for remotes applies.
        exchange.request().addIdleTimeoutListener(_ -> false);
        SandboxId from = exchange.from().orElseThrow(() -> new SandboxException(new Failure.NotAllowed("not here")));
        int status = 499;
        try {
            RunRepository work = access.admit(from, exchange.path("repository"));
            operation.handle(new Call(exchange, work, remotes.of(work)));
            status = exchange.response().getStatus();
        } catch (SandboxException e) {
            status = refuse(exchange, e.failure());
        } finally {
            var kind = status < 400 ? AuditEntry.Kind.USED : AuditEntry.Kind.REFUSED;
            audit.record(AuditEntry.of(clock.instant(), kind, status, route)
                    .onSandbox(from)
                    .byProgramOf(from));
        }
    }

    /// Git asks for a password after 401, and shows a plain text.
    private static int refuse(Exchange exchange, Failure failure) throws IOException {
        int problem = ProblemJson.status(failure);
        int status = problem == UNAUTHORIZED || problem == 409 ? FORBIDDEN : problem;
        if (exchange.response().isCommitted()) {
            throw new IOException(failure.sentence());
        }
        exchange.answer(status, TEXT, bytes(failure.sentence() + "\n"));
        return status;
    }

    private void info(Call call) throws IOException {
        Transfer service = call.exchange
                .rawQuery()
                .filter(query -> query.startsWith("service="))
                .flatMap(query -> Transfer.find(query.substring("service=".length())))
                .orElseThrow(() ->
                        new SandboxException(new Failure.NotAllowed("only the smart protocol of git is supported")));
        call.exchange.answerHeader("Cache-Control", NO_CACHE);
        Optional<Path> mirror =
                service == Transfer.FETCH ? mirrors.refreshed(call.work.owner(), call.remote) : Optional.empty();
        if (mirror.isPresent()) {
            advertise(call, mirror.get());
            return;
        }
        var protocol = service == Transfer.FETCH ? call.protocol() : Optional.<String>empty();
        try (var response = call.remote.info(service, protocol)) {
            relay(call.exchange, response, service.advertisementType());
        }
    }

    private void advertise(Call call, Path mirror) throws IOException {
        OutputStream out = call.exchange.stream(200, Transfer.FETCH.advertisementType(), OptionalLong.empty());
        boolean isVersion2 =
                call.protocol().filter(value -> value.contains("version=2")).isPresent();
        if (!isVersion2) {
            out.write(bytes("001e# service=git-upload-pack\n0000"));
        }
        git.serve(new HostGit.Fetch(mirror, call.protocol(), Optional.empty()), out);
        out.close();
    }

    private void fetch(Call call) throws IOException {
        Optional<Path> mirror = mirrors.current(call.work.owner(), call.remote);
        Optional<String> encoding = call.exchange.header("Content-Encoding").filter("gzip"::equals);
        InputStream in = call.exchange.body();
        call.exchange.answerHeader("Cache-Control", NO_CACHE);
        if (mirror.isPresent()) {
            InputStream body = encoding.isPresent() ? new GZIPInputStream(in) : in;
            OutputStream out = call.exchange.stream(200, Transfer.FETCH.resultType(), OptionalLong.empty());
            git.serve(new HostGit.Fetch(mirror.get(), call.protocol(), Optional.of(body)), out);
            out.close();
            return;
        }
        Map<String, String> headers = new HashMap<>();
        encoding.ifPresent(value -> headers.put("Content-Encoding", value));
        call.protocol().ifPresent(value -> headers.put("Git-Protocol", value));
        forward(call, Transfer.FETCH, headers, in);
    }

    private void push(Call call) throws IOException {
        if (call.exchange.header("Content-Encoding").isPresent()) {
            throw Exchange.unsupportedMediaType("a push must not be compressed");
        }
        InputStream in = call.exchange.body();
        PushCommands commands = commands(in);
        Optional<String> refusal = commands.refusal(call.work.branch());
        if (refusal.isPresent()) {
            in.transferTo(OutputStream.nullOutputStream());
            call.exchange.answer(200, Transfer.PUSH.resultType(), commands.rejection("Vivarium: " + refusal.get()));
            return;
        }
        var whole = new SequenceInputStream(new java.io.ByteArrayInputStream(commands.bytes()), in);
        forward(call, Transfer.PUSH, Map.of(), whole);
    }

    private static PushCommands commands(InputStream in) throws IOException {
        try {
            return PushCommands.read(in);
        } catch (IllegalArgumentException e) {
            throw new SandboxException(new Failure.InvalidRequest("push", String.valueOf(e.getMessage())), e);
        }
    }

    private static void forward(Call call, Transfer service, Map<String, String> headers, InputStream in)
            throws IOException {
        var body = new OutboundHttp.Body(call.exchange.contentLength(), in::transferTo);
        try (var response = call.remote.call(service, headers, body)) {
            relay(call.exchange, response, service.resultType());
        }
    }

    private static void relay(Exchange exchange, OutboundHttp.Response response, String type) throws IOException {
        exchange.onDisconnect(response::close);
        OutputStream out = exchange.stream(200, type, OptionalLong.empty());
        response.copyTo(out);
        out.close();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
