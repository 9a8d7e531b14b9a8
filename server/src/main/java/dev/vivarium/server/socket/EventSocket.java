package dev.vivarium.server.socket;

import dev.vivarium.core.access.AuditEntry.Kind;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.lifecycle.EventFollower;
import dev.vivarium.core.log.Batch;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Event;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Message;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.NewMessage;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.server.api.ViewJson;
import dev.vivarium.server.feed.FeedFilter;
import dev.vivarium.server.feed.VisibleEvent;
import dev.vivarium.server.http.Admission;
import dev.vivarium.server.http.Caller;
import dev.vivarium.server.http.Credential;
import dev.vivarium.server.http.Presence;
import dev.vivarium.server.operation.ListFiles;
import dev.vivarium.server.operation.Operations;
import dev.vivarium.server.operation.ReadTerminal;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One watcher of a sandbox: first what happened after the event it last saw, then what happens, and a way to speak to
/// the agent and to hold it. What it does not read in time waits in the log. Thread-safe.
public final class EventSocket extends GuardedSocket {
    private static final Logger LOG = LoggerFactory.getLogger(EventSocket.class);
    private static final String COMMANDS =
            "must be send_message, interrupt, pause, resume, request_files or request_terminal";
    private static final long DEPTH = 1;
    private static final long LINES = 200;

    private final Duration heartbeat;
    private final EventLog log;
    private final Operations operations;
    private final Start start;
    private final AtomicBoolean shown = new AtomicBoolean();
    private volatile Optional<Place> place = Optional.empty();
    private volatile FeedFilter filter;

    /// Where a watcher is in which log.
    private record Place(SandboxId sandbox, Optional<Sandbox> alive, EventFollower eventFollower) {
        String status() {
            return alive.map(sandbox -> sandbox.info().status().label()).orElse("terminated");
        }
    }

    /// Of which sandbox, and what is wanted of it by who does not say.
    record Start(String sandboxId, long afterSeq, FeedFilter filter) {}

    EventSocket(Sockets sockets, SocketAudit controlPort, EventLog log, Operations operations, Start start) {
        super(sockets, controlPort, start.sandboxId);
        this.heartbeat = sockets.heartbeat();
        this.log = log;
        this.operations = operations;
        this.start = start;
        this.filter = start.filter;
    }

    @Override
    Optional<Presence.Way> way() {
        return Optional.of(Presence.Way.EVENTS);
    }

    @Override
    Scope previewAccess() {
        return Scope.SHELL_RO;
    }

    @Override
    Caller admit(Admission admission, Credential credential, Scope wanted) {
        return admission.admitKept(sandboxId(), credential, wanted);
    }

    @Override
    Scope settle(Caller caller, JsonFields first) {
        long after = first.optionalInteger("after_seq").orElse(start.afterSeq);
        if (after < 0) {
            throw new SandboxException(new Failure.InvalidRequest("after_seq", "must not be negative"));
        }
        filter = FeedFilter.readTypes(first).or(filter);
        first.refuseOthers();
        var sandbox = new SandboxId(sandboxId());
        var eventFollower =
                new EventFollower(log, sandbox, after, caller.sandbox().isPresent());
        place = Optional.of(new Place(sandbox, caller.sandbox(), eventFollower));
        controlPort().did(caller, Kind.USED, "watches from " + after);
        return Scope.SHELL_RO;
    }

    @Override
    void greet() {
        place.ifPresent(at -> {
            long waiting = Math.max(0, log.head(at.sandbox) - at.eventFollower.seq());
            peer().send(SocketMessages.message("connected", out -> {
                out.writeStringProperty("sandbox_id", at.sandbox.value());
                out.writeStringProperty("status", at.status());
                out.writeNumberProperty("buffered_events_count", waiting);
            }));
            if (shown.compareAndSet(false, true)) {
                Thread.ofVirtual().name("events-" + at.sandbox).start(() -> show(at));
            }
        });
    }

    private void show(Place at) {
        try {
            long beaten = System.nanoTime();
            while (true) {
                long due = Math.max(0, heartbeat.toNanos() - (System.nanoTime() - beaten));
                send(at.eventFollower.next(Duration.ofNanos(due)));
                if (at.eventFollower.isOver()) {
                    close(new CloseReason(1000, "the sandbox has ended"));
                    return;
                }
                // Also to whoever is sent nothing because it wants nothing of what happens.
                if (System.nanoTime() - beaten >= heartbeat.toNanos()) {
                    beaten = System.nanoTime();
                    peer().send(SocketMessages.message(
                            "heartbeat",
                            out -> Json.time(out, "timestamp", controlPort().now())));
                }
            }
        } catch (CompletionException e) {
            LOG.debug("a watcher has gone", e);
            leave();
        } catch (SandboxException e) {
            close(CloseReason.of(e.failure()));
        } catch (InterruptedException e) {
            close(CloseReason.stopping());
        }
    }

    private void send(Batch batch) {
        if (batch.missed() > 0) {
            peer().send(SocketMessages.message("missed", out -> out.writeNumberProperty("events", batch.missed())));
        }
        for (Event event : batch.events()) {
            if (filter.includesType(event)) {
                peer().send(SocketMessages.message("event", VisibleEvent.of(event, scopes())::message));
            }
        }
    }

    @Override
    void obey(Caller caller, String type, JsonFields fields) {
        switch (type) {
            case "filter" -> want(FeedFilter.readTypes(fields));
            case "subscribe" -> want(filter.with(FeedFilter.readTypes(fields)));
            case "unsubscribe" -> want(filter.without(FeedFilter.readTypes(fields)));
            case "command" -> command(caller, fields.string("command"), fields.optionalObject("payload"));
            default ->
                throw new SandboxException(new Failure.InvalidRequest(
                        "type", "must be command, filter, subscribe, unsubscribe, ping or auth"));
        }
    }

    private void want(FeedFilter other) {
        filter = other;
        peer().send(SocketMessages.message("filter", other::write));
    }

    private void command(Caller caller, String command, Optional<JsonFields> payload) {
        switch (command) {
            case "request_files" -> {
                require(caller, Scope.FS_RO);
                sendFiles(caller, payload);
            }
            case "request_terminal" -> sendTerminal(caller, payload);
            default -> act(caller, command, payload);
        }
        controlPort().did(caller, Kind.USED, command);
    }

    private static void require(Caller caller, Scope scope) {
        if (!caller.scopes().allows(scope)) {
            throw new SandboxException(new Failure.NotAllowed("this needs the scope " + scope.text()));
        }
    }

    private Sandbox alive(Caller caller) {
        return caller.sandbox()
                .orElseThrow(() -> new SandboxException(new Failure.NoSuchSandbox(sandboxId(), Optional.empty())));
    }

    private void sendFiles(Caller caller, Optional<JsonFields> payload) {
        Sandbox sandbox = alive(caller);
        String path = payload.flatMap(fields -> fields.optionalString("path")).orElse("");
        long depth = payload.flatMap(fields -> fields.optionalInteger("depth")).orElse(DEPTH);
        try (var memory = memory(caller)) {
            var tree = operations.files().list(new ListFiles.Request(sandbox, path, depth), memory::add);
            memory.add(ViewJson.bytes(tree));
            peer().send(SocketMessages.message("files", out -> ViewJson.write(out, tree)));
        }
    }

    private void sendTerminal(Caller caller, Optional<JsonFields> payload) {
        long lines = payload.flatMap(fields -> fields.optionalInteger("lines")).orElse(LINES);
        try (var memory = memory(caller)) {
            var request = new ReadTerminal.Request(new SandboxId(sandboxId()), lines);
            var text = operations.terminal().read(request, memory::add);
            peer().send(SocketMessages.message("terminal", out -> ViewJson.write(out, text)));
        }
    }

    private void act(Caller caller, String command, Optional<JsonFields> payload) {
        require(caller, Scope.PROCESS);
        Sandbox sandbox = alive(caller);
        switch (command) {
            case "send_message" -> send(caller, sandbox, Message.Kind.USER_MESSAGE, content(payload));
            case "interrupt" -> {
                String text = payload.map(EventSocket::text).orElse("stop");
                send(caller, sandbox, Message.Kind.INTERRUPT, text);
            }
            case "pause" -> operations.pause().pause(caller.principal().orElseThrow(), sandbox);
            case "resume" -> operations.pause().resume(caller.principal().orElseThrow(), sandbox);
            default -> throw new SandboxException(new Failure.InvalidRequest("command", COMMANDS));
        }
    }

    private void send(Caller caller, Sandbox sandbox, Message.Kind kind, String content) {
        var sender = caller.principal().orElseThrow().name().value();
        var queued = operations.messages().send(sandbox.id(), new NewMessage(content, kind, NewEvent.sourceOf(sender)));
        peer().send(SocketMessages.message("queued", out -> {
            out.writeStringProperty("message_id", queued.message().id());
            out.writeNumberProperty("queue_size", queued.waiting());
            out.writeBooleanProperty("listening", queued.listening());
        }));
    }

    private static String content(Optional<JsonFields> payload) {
        return payload.map(EventSocket::text)
                .orElseThrow(() -> new SandboxException(new Failure.InvalidRequest("payload", "is required")));
    }

    private static String text(JsonFields payload) {
        return payload.string("content");
    }

    @Override
    void vacate() {
        place.ifPresent(at -> at.eventFollower.close());
    }
}
