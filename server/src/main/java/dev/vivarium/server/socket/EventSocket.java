package dev.vivarium.server.socket;

import static dev.vivarium.model.Failure.InvalidRequest.require;

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
import dev.vivarium.server.access.SandboxLookup;
import dev.vivarium.server.api.ViewJson;
import dev.vivarium.server.feed.FeedFilter;
import dev.vivarium.server.feed.VisibleEvent;
import dev.vivarium.server.http.Caller;
import dev.vivarium.server.http.Presence;
import dev.vivarium.server.operation.ListFiles;
import dev.vivarium.server.operation.Operations;
import dev.vivarium.server.operation.ReadTerminal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Optional;

/// Session of a client that follows the events of a sandbox and sends commands to its agent. Thread-safe.
///
/// The session has no buffer: events that a slow client has not received yet stay in the log.
final class EventSocket implements SocketSession {
    private static final String COMMANDS =
            "must be send_message, interrupt, pause, resume, request_files or request_terminal";
    private static final long DEPTH = 1;
    private static final long LINES = 200;

    private final GuardedSocket socket;
    private final Duration heartbeat;
    private final EventLog log;
    private final Operations operations;
    private final SandboxId sandboxId;

    /// The sandbox when the client connected; empty if it had ended.
    private final Optional<Sandbox> sandboxAtStart;

    private final EventFollower follower;
    private volatile FeedFilter filter;

    /// Defaults from the query: the last event that the client has, and the types that it wants. Immutable.
    record Start(long afterSeq, FeedFilter filter) {}

    private EventSocket(
            GuardedSocket socket,
            Duration heartbeat,
            EventLog log,
            Operations operations,
            Optional<Sandbox> sandboxAtStart,
            Start start) {
        this.socket = socket;
        this.heartbeat = heartbeat;
        this.log = log;
        this.operations = operations;
        this.sandboxId = new SandboxId(socket.sandboxId());
        this.sandboxAtStart = sandboxAtStart;
        this.follower = new EventFollower(log, sandboxId, start.afterSeq, sandboxAtStart.isPresent());
        this.filter = start.filter;
    }

    static Opener opener(Duration heartbeat, EventLog log, Operations operations, Start defaults) {
        return (socket, caller, first) -> {
            long after = first.optionalInteger("after_seq").orElse(defaults.afterSeq);
            require(after >= 0, "after_seq", "must not be negative");
            var filter = FeedFilter.readTypes(first).orDefault(defaults.filter);
            first.refuseOthers();
            socket.audit().did(caller, Kind.USED, "watches from " + after);
            return new EventSocket(socket, heartbeat, log, operations, caller.sandbox(), new Start(after, filter));
        };
    }

    @Override
    public Optional<Presence.Purpose> purpose() {
        return Optional.of(Presence.Purpose.EVENTS);
    }

    @Override
    public String authenticatedMessage() {
        long waiting = Math.max(0, log.head(sandboxId) - follower.seq());
        String status =
                sandboxAtStart.map(sandbox -> sandbox.info().status().text()).orElse("terminated");
        return SocketMessages.message("connected", out -> {
            out.writeStringProperty("sandbox_id", sandboxId.value());
            out.writeStringProperty("status", status);
            out.writeNumberProperty("buffered_events_count", waiting);
        });
    }

    private void send(String message) {
        socket.client().send(message);
    }

    @Override
    public void run() throws InterruptedException {
        long last = System.nanoTime();
        while (true) {
            long due = Math.max(0, heartbeat.toNanos() - (System.nanoTime() - last));
            send(follower.next(Duration.ofNanos(due)));
            if (follower.isOver()) {
                socket.close(new CloseReason(1000, "the sandbox has ended"));
                return;
            }
            // Heartbeats do not depend on events, because the filter may drop all of them.
            if (System.nanoTime() - last >= heartbeat.toNanos()) {
                last = System.nanoTime();
                var now = socket.audit().now();
                send(SocketMessages.message("heartbeat", out -> Json.time(out, "timestamp", now)));
            }
        }
    }

    private void send(Batch batch) {
        var messages = new ArrayList<String>();
        if (batch.missed() > 0) {
            messages.add(SocketMessages.message("missed", out -> out.writeNumberProperty("events", batch.missed())));
        }
        for (Event event : batch.events()) {
            if (filter.includesType(event)) {
                messages.add(SocketMessages.message("event", VisibleEvent.of(event, socket.scopes())::message));
            }
        }
        follower.blocks();
        socket.client().send(messages);
    }

    @Override
    public void receive(Caller caller, String type, JsonFields fields) {
        switch (type) {
            case "filter" -> setFilter(FeedFilter.readTypes(fields));
            case "subscribe" -> setFilter(filter.with(FeedFilter.readTypes(fields)));
            case "unsubscribe" -> setFilter(filter.without(FeedFilter.readTypes(fields)));
            case "command" -> command(caller, fields.string("command"), fields.optionalObject("payload"));
            default ->
                throw SandboxException.invalid("type", "must be command, filter, subscribe, unsubscribe, ping or auth");
        }
    }

    private void setFilter(FeedFilter other) {
        filter = other;
        send(SocketMessages.message("filter", other::write));
    }

    private void command(Caller caller, String command, Optional<JsonFields> payload) {
        switch (command) {
            case "request_files" -> {
                SandboxLookup.requireScope(caller.scopes(), Scope.FS_RO);
                sendFiles(caller, payload);
            }
            case "request_terminal" -> sendTerminal(caller, payload);
            default -> act(caller, command, payload);
        }
        socket.audit().did(caller, Kind.USED, command);
    }

    private Sandbox requireSandbox(Caller caller) {
        return caller.sandbox()
                .orElseThrow(
                        () -> new SandboxException(new Failure.NoSuchSandbox(socket.sandboxId(), Optional.empty())));
    }

    private void sendFiles(Caller caller, Optional<JsonFields> payload) {
        Sandbox sandbox = requireSandbox(caller);
        String path = payload.flatMap(fields -> fields.optionalString("path")).orElse("");
        long depth = payload.flatMap(fields -> fields.optionalInteger("depth")).orElse(DEPTH);
        try (var memory = socket.memory(caller)) {
            var tree = operations.files().list(new ListFiles.Request(sandbox, path, depth), memory::add);
            memory.add(ViewJson.bytes(tree));
            send(SocketMessages.message("files", out -> ViewJson.TREE.writeFields(out, tree)));
        }
    }

    private void sendTerminal(Caller caller, Optional<JsonFields> payload) {
        long lines = payload.flatMap(fields -> fields.optionalInteger("lines")).orElse(LINES);
        try (var memory = socket.memory(caller)) {
            var request = new ReadTerminal.Request(sandboxId, lines);
            var text = operations.terminal().read(request, memory::add);
            send(SocketMessages.message("terminal", out -> ViewJson.TERMINAL.writeFields(out, text)));
        }
    }

    private void act(Caller caller, String command, Optional<JsonFields> payload) {
        SandboxLookup.requireScope(caller.scopes(), Scope.PROCESS);
        Sandbox sandbox = requireSandbox(caller);
        switch (command) {
            case "send_message" -> send(caller, sandbox, Message.Kind.USER_MESSAGE, content(payload));
            case "interrupt" -> {
                String text = payload.map(EventSocket::text).orElse("stop");
                send(caller, sandbox, Message.Kind.INTERRUPT, text);
            }
            case "pause" -> operations.pause().pause(caller.principal().orElseThrow(), sandbox);
            case "resume" -> operations.pause().resume(caller.principal().orElseThrow(), sandbox);
            default -> throw SandboxException.invalid("command", COMMANDS);
        }
    }

    private void send(Caller caller, Sandbox sandbox, Message.Kind kind, String content) {
        var sender = caller.principal().orElseThrow().name().value();
        var queued = operations.messages().send(sandbox.id(), new NewMessage(content, kind, NewEvent.sourceOf(sender)));
        send(SocketMessages.message("queued", out -> {
            out.writeStringProperty("message_id", queued.message().id());
            out.writeNumberProperty("queue_size", queued.waiting());
            out.writeBooleanProperty("listening", queued.listening());
        }));
    }

    private static String content(Optional<JsonFields> payload) {
        return payload.map(EventSocket::text).orElseThrow(() -> SandboxException.invalid("payload", "is required"));
    }

    private static String text(JsonFields payload) {
        return payload.string("content");
    }

    @Override
    public void close() {
        follower.close();
    }
}
