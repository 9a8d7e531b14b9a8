package dev.vivarium.sdk.http;

import dev.vivarium.json.ExecJson;
import dev.vivarium.json.FileJson;
import dev.vivarium.json.Json;
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
import dev.vivarium.sdk.engine.Content;
import dev.vivarium.sdk.engine.Engine;
import dev.vivarium.sdk.engine.Run;
import dev.vivarium.sdk.engine.Session;
import dev.vivarium.sdk.engine.Snapshots;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Optional;

/// Sandbox operations of a server. Thread-safe.
public final class HttpEngine implements Engine {
    private static final int CONFLICT = 409;
    private static final String NDJSON = "application/x-ndjson";
    private static final String ANY = "*/*";

    private final Connection connection;

    public HttpEngine(RemoteConfig config) {
        this.connection = new Connection(config);
    }

    @Override
    public Session open(NewSandbox request) {
        byte[] body = Json.bytes(out -> SessionJson.CREATE.writeFields(out, request));
        Answer answer = connection.post("/create_session", body);
        // A thread that has its sandbox already is no failure: 409 then carries the session, not a problem.
        if (answer.status() == CONFLICT && !answer.isProblem()) {
            return new Session(answer.decode(SessionJson::info), Session.Origin.EXISTING);
        }
        return new Session(answer.read(SessionJson::info), Session.Origin.CREATED);
    }

    @Override
    public Optional<Session> find(ThreadId thread) {
        try {
            Answer answer = connection.get("/get_session?" + Connection.query("thread_id", thread.value()));
            return Optional.of(new Session(answer.read(SessionJson::info), Session.Origin.EXISTING));
        } catch (SandboxException e) {
            if (e.failure() instanceof Failure.NoSandboxForThread) {
                return Optional.empty();
            }
            throw e;
        }
    }

    @Override
    public ExecResult execute(SandboxId id, Command command) {
        return connection.post("/execute", body(id, command), patience(command)).read(ExecJson::read);
    }

    @Override
    public Run start(SandboxId id, Command command) {
        var config = connection.config();
        return new HttpRun(
                connection,
                connection.stream("/execute", body(id, command), NDJSON, config.answer(), config.silence()));
    }

    @Override
    public FileEntry upload(SandboxId id, String name, Content content) {
        var form = new Multipart(id, name);
        try {
            var length = content.length();
            try (var bytes = Source.of(content)) {
                return connection
                        .upload("/upload_file", form, bytes, form.around(bytes, length))
                        .read(FileJson.UPLOADED::read);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public InputStream read(SandboxId id, String name) {
        byte[] body = Json.bytes(out -> {
            out.writeStringProperty("session_id", id.value());
            out.writeStringProperty("filename", name);
        });
        var config = connection.config();
        return connection.stream("/download_file", body, ANY, config.answer(), config.silence());
    }

    @Override
    public Listing list(SandboxId id) {
        return connection
                .get("/list_files?" + Connection.query("session_id", id.value()))
                .read(FileJson::read);
    }

    @Override
    public Snapshots snapshots() {
        var config = connection.config();
        return new HttpSnapshots(new Transport(config.server(), config.apiKey()));
    }

    @Override
    public void end(SandboxId id) {
        byte[] body = Json.bytes(out -> out.writeStringProperty("session_id", id.value()));
        connection.post("/cleanup", body).requireSuccess();
    }

    @Override
    public void close() {
        connection.close();
    }

    private static byte[] body(SandboxId id, Command command) {
        var request = new ExecJson.Request(id.value(), command.argv().getLast(), command, Optional.empty());
        return Json.bytes(out -> ExecJson.EXECUTE.writeFields(out, request));
    }

    /// Timeout of the response: longer than that of the command, so that the server can report it.
    private Duration patience(Command command) {
        Duration answer = connection.config().answer();
        return command.timeout().map(answer::plus).orElse(answer);
    }
}
