package dev.vivarium.sdk.http;

import dev.vivarium.json.ExecJson;
import dev.vivarium.json.FileJson;
import dev.vivarium.json.JsonFields;
import dev.vivarium.json.SessionJson;
import dev.vivarium.model.Command;
import dev.vivarium.model.ExecResult;
import dev.vivarium.model.Failure;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.Listing;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.sdk.engine.Content;
import dev.vivarium.sdk.engine.Engine;
import dev.vivarium.sdk.engine.Run;
import dev.vivarium.sdk.engine.Session;
import dev.vivarium.sdk.engine.Snapshots;
import dev.vivarium.sdk.http.Transport.Body;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/// Sandbox operations of a server. Thread-safe.
public final class HttpEngine implements Engine {
    private static final int CONFLICT = 409;

    private final RemoteConfig config;
    private final HttpClientSender client;
    private final Transport transport;

    public HttpEngine(RemoteConfig config) {
        this.config = config;
        this.client = new HttpClientSender(config.connect(), config.silence());
        this.transport = transport(client.within(config.answer()));
    }

    private Transport transport(Sender sender) {
        var base = URI.create(config.server().toString().replaceAll("/+$", ""));
        return new Transport(base, config.apiKey(), sender);
    }

    @Override
    public Session open(NewSandbox request) {
        var body = Body.json(out -> SessionJson.CREATE.writeFields(out, request));
        Response response = transport.send("POST", "/create_session", Map.of(), body);
        // A thread that has its sandbox already is no failure: 409 then carries the session, not a problem.
        if (response.status() == CONFLICT && !response.isProblem()) {
            return new Session(response.decode(SessionJson::info), Session.Origin.EXISTING);
        }
        return new Session(response.read(SessionJson::info), Session.Origin.CREATED);
    }

    @Override
    public Optional<Session> find(ThreadId thread) {
        return find("?thread_id=" + Transport.segment(thread.value()));
    }

    @Override
    public Optional<Session> find(ThreadKey key) {
        return find("?thread_id=" + Transport.segment(key.thread().value()) + "&owner="
                + Transport.segment(key.user().value()));
    }

    private Optional<Session> find(String query) {
        try {
            var found = transport.get("/get_session" + query, SessionJson::info);
            return Optional.of(new Session(found, Session.Origin.EXISTING));
        } catch (SandboxException e) {
            if (e.failure() instanceof Failure.NoSandboxForThread) {
                return Optional.empty();
            }
            throw e;
        }
    }

    @Override
    public ExecResult execute(SandboxId id, Command command) {
        return transport(client.within(responseTimeout(command)))
                .send("POST", "/execute", Map.of(), body(id, command))
                .read(ExecJson::read);
    }

    @Override
    public Run start(SandboxId id, Command command) {
        var headers = Map.of("Accept", "application/x-ndjson");
        return new HttpRun(
                transport.send("POST", "/execute", headers, body(id, command)).requireSuccess());
    }

    @Override
    public FileEntry upload(SandboxId id, String name, Content content) {
        try {
            var length = content.length();
            try (var bytes = content.open()) {
                return transport(client::upload)
                        .send("POST", "/upload_file", Map.of(), new Multipart(id, name).around(bytes, length))
                        .read(FileJson.UPLOADED::read);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public InputStream read(SandboxId id, String name) {
        var body = Body.json(out -> {
            out.writeStringProperty("session_id", id.value());
            out.writeStringProperty("filename", name);
        });
        return transport
                .send("POST", "/download_file", Map.of("Accept", "*/*"), body)
                .requireSuccess()
                .body();
    }

    @Override
    public Listing list(SandboxId id) {
        return transport.get("/list_files?session_id=" + Transport.segment(id.value()), FileJson::read);
    }

    @Override
    public Snapshots snapshots() {
        return new HttpSnapshots(new Transport(config.server(), config.apiKey()));
    }

    @Override
    public void end(SandboxId id) {
        transport.post("/cleanup", out -> out.writeStringProperty("session_id", id.value()), JsonFields::text);
    }

    @Override
    public void close() {
        client.close();
    }

    private static Body body(SandboxId id, Command command) {
        var request = new ExecJson.Request(id.value(), command.argv().getLast(), command, Optional.empty());
        return Body.json(out -> ExecJson.EXECUTE.writeFields(out, request));
    }

    /// Timeout of the response: longer than that of the command, so that the server can report it.
    private Duration responseTimeout(Command command) {
        return command.timeout().map(config.answer()::plus).orElse(config.answer());
    }
}
