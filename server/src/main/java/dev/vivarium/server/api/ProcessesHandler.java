package dev.vivarium.server.api;

import static dev.vivarium.json.JsonType.BOOLEAN;
import static dev.vivarium.json.JsonType.BYTES;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.server.http.Route.Access.scoped;

import dev.vivarium.core.access.Scope;
import dev.vivarium.core.exec.ManagedProcess;
import dev.vivarium.core.exec.OutputFollower;
import dev.vivarium.core.exec.OutputFollower.News;
import dev.vivarium.core.exec.Processes;
import dev.vivarium.core.exec.Signal;
import dev.vivarium.core.exec.SignalTarget;
import dev.vivarium.json.ExecJson;
import dev.vivarium.json.ObjectType;
import dev.vivarium.json.ProcessJson;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.Exit;
import dev.vivarium.model.ProcessInfo;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;

/// `/sandboxes/{sandbox_id}/processes…`: lists, signals, writes to, follows and kills the processes of a sandbox.
/// Reads do not resume a paused sandbox; the other operations do. Thread-safe.
public final class ProcessesHandler {
    private static final ObjectType<SignalRequest> SIGNAL_REQUEST = object(
                    "Signal",
                    SignalRequest::new,
                    field(
                            "name",
                            STRING.with(
                                            "enum",
                                            Arrays.stream(Signal.values())
                                                    .map(Signal::name)
                                                    .toList())
                                    .as(ProcessesHandler::signal, Signal::name),
                            "With or without `SIG`."),
                    optional("tree", BOOLEAN.with("default", false), "Whether all descendants receive it too."))
            .closed();

    private record SignalRequest(Signal signal, Optional<Boolean> tree) {
        private SignalTarget target() {
            return tree.orElse(false) ? SignalTarget.TREE : SignalTarget.PROCESS;
        }
    }

    public static final RouteDescription LIST = RouteDescription.get(
                    "/sandboxes/{sandbox_id}/processes", scoped(Scope.PROCESS))
            .named("listProcesses", "List the processes of a sandbox")
            .text("""
                    Lists running processes, and detached processes that have exited and are still kept.""")
            .answers(200, "In the order in which they started.", ProcessJson.PROCESSES);

    public static final RouteDescription GET = RouteDescription.get(
                    "/sandboxes/{sandbox_id}/processes/{process_id}", scoped(Scope.PROCESS))
            .named("getProcess", "Find a process")
            .answers(200, "The process. `exit` is present after it has exited.", ProcessJson.PROCESS);

    public static final RouteDescription KILL = RouteDescription.delete(
                    "/sandboxes/{sandbox_id}/processes/{process_id}", scoped(Scope.PROCESS))
            .named("killProcess", "Kill a process and all its descendants")
            .text("A process that has exited is removed from the list.")
            .answers(204, "The process was killed, or removed from the list.")
            .fails(409, 410, 502);

    public static final RouteDescription SIGNAL = RouteDescription.post(
                    "/sandboxes/{sandbox_id}/processes/{process_id}/signal", scoped(Scope.PROCESS))
            .named("signalProcess", "Send a signal to a process")
            .takes(SIGNAL_REQUEST)
            .answers(204, "The signal was sent.")
            .fails(409, 410, 502);

    public static final RouteDescription STDIN = RouteDescription.post(
                    "/sandboxes/{sandbox_id}/processes/{process_id}/stdin", scoped(Scope.PROCESS))
            .named("writeStdin", "Write to the standard input of a process")
            .text("The server writes the body as fast as the process reads it.")
            .query("eof", QueryFlags.type(false), "`true` closes the standard input after the body.")
            .takes(false, "application/octet-stream", BYTES)
            .answers(204, "The whole body was written.")
            .fails(409, 410, 502);

    public static final RouteDescription OUTPUT = RouteDescription.get(
                    "/sandboxes/{sandbox_id}/processes/{process_id}/output", scoped(Scope.PROCESS))
            .named("followOutput", "Follow the output of a detached process")
            .text("""
                    Returns the kept output, then new output until the process exits. Any number of clients may \
                    follow. `missed` counts the bytes that a slow reader lost.""")
            .query("follow", QueryFlags.type(true), "`false` ends the response after the kept output.")
            .answers(
                    200,
                    "The events, as NDJSON unless the caller sends `Accept: text/event-stream`.",
                    "text/event-stream",
                    ExecJson.EVENT)
            .also("application/x-ndjson", ExecJson.EVENT)
            .fails(410);

    private static final Duration KEEP_ALIVE = Duration.ofSeconds(2);
    private static final int PIECE = 64 * 1024;

    private final SandboxResolver resolver;

    public ProcessesHandler(SandboxResolver resolver) {
        this.resolver = resolver;
    }

    public void list(Exchange exchange) throws IOException {
        exchange.answer(200, ProcessJson.PROCESSES, known(exchange).list());
    }

    public void get(Exchange exchange) throws IOException {
        exchange.answer(200, ProcessJson.PROCESS, process(exchange).info());
    }

    /// Sends a signal to the process, or to it and all its descendants.
    public void signal(Exchange exchange) throws IOException {
        var request = exchange.json(SIGNAL_REQUEST);
        var process = process(exchange);
        resolver.resumed(exchange.sandbox());
        process.signal(request.signal(), request.target());
        exchange.answer(204);
    }

    private static Signal signal(String name) {
        return Signal.find(name)
                .orElseThrow(
                        () -> SandboxException.invalid("name", "must be one of " + Arrays.toString(Signal.values())));
    }

    /// Writes the body to the standard input. `eof=true` then closes the standard input.
    public void stdin(Exchange exchange) throws IOException {
        boolean eof = QueryFlags.of(exchange, "eof", false);
        var process = process(exchange);
        resolver.resumed(exchange.sandbox());
        var body = exchange.body();
        var piece = new byte[PIECE];
        int count;
        while ((count = body.read(piece)) >= 0) {
            process.write(piece, 0, count);
        }
        if (eof) {
            process.closeInput();
        }
        exchange.answer(204);
    }

    /// Sends the kept output, then new output until the process exits. With `follow=false` only the kept output.
    public void output(Exchange exchange) throws IOException {
        boolean follow = QueryFlags.of(exchange, "follow", true);
        var process = process(exchange);
        var follower = process.follow();
        var format = EventStream.Format.accepted(exchange).orElse(EventStream.Format.NDJSON);
        EventStream.send(exchange, format, events -> {
            var info = process.info();
            events.send("started", json -> ExecJson.started(json, info.pid(), info.id()));
            try (var _ = exchange.sandbox().use()) {
                send(follower, events, follow);
            }
        });
    }

    private static void send(OutputFollower follower, EventStream events, boolean follow) throws IOException {
        var text = new OutputText(events);
        while (true) {
            switch (follower.next(follow ? KEEP_ALIVE : Duration.ZERO)) {
                case News.Output(ExecEvent.Stream stream, byte[] bytes, long missed) -> {
                    if (missed > 0) {
                        events.send("missed", json -> ProcessJson.missed(json, missed));
                    }
                    text.send(stream, bytes);
                }
                case News.Quiet _ when follow -> events.keepAlive();
                case News.Quiet _ -> {
                    text.end();
                    return;
                }
                case News.Exited(Exit exit) -> {
                    text.end();
                    events.send("exit", json -> ExecJson.exited(json, exit, false));
                    return;
                }
            }
        }
    }

    /// Kills a process with all its descendants. Removes a process that has exited from the list.
    public void kill(Exchange exchange) throws IOException {
        var process = process(exchange);
        if (process.info().state() == ProcessInfo.State.RUNNING) {
            resolver.resumed(exchange.sandbox());
            process.signal(Signal.KILL, SignalTarget.TREE);
        } else {
            process.close();
        }
        exchange.answer(204);
    }

    private static ManagedProcess process(Exchange exchange) {
        return known(exchange).require(exchange.path("process_id"));
    }

    /// Does not resume the sandbox. After a restart it waits until the server has found the earlier processes.
    private static Processes known(Exchange exchange) {
        exchange.sandbox().awaitFound();
        return exchange.sandbox().processes();
    }
}
