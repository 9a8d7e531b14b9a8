package dev.vivarium.server.api;

import dev.vivarium.core.exec.ManagedProcess;
import dev.vivarium.core.exec.OutputFollower;
import dev.vivarium.core.exec.OutputFollower.News;
import dev.vivarium.core.exec.Processes;
import dev.vivarium.core.exec.Signal;
import dev.vivarium.core.exec.SignalTarget;
import dev.vivarium.json.ExecJson;
import dev.vivarium.json.ProcessJson;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
import dev.vivarium.model.ProcessInfo;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;

/// `/sandboxes/{sandbox_id}/processes…`: what was started in a sandbox, seen, signalled, fed, listened to and ended.
/// Looking wakes no paused sandbox; what acts on a process does. Thread-safe.
public final class ProcessesHandler {
    private static final Duration KEEP_ALIVE = Duration.ofSeconds(2);
    private static final int PIECE = 64 * 1024;

    private final Callers callers;

    public ProcessesHandler(Callers callers) {
        this.callers = callers;
    }

    public void list(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var processes = known(exchange).list();
        exchange.answer(200, out -> ProcessJson.write(out, processes));
    }

    public void get(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var info = process(exchange).info();
        exchange.answer(200, out -> ProcessJson.write(out, info));
    }

    /// Sends a signal to the process, or to it and all its descendants.
    public void signal(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var fields = exchange.json();
        String name = fields.string("name");
        boolean tree = fields.optionalFlag("tree").orElse(false);
        fields.refuseOthers();
        var signal = Signal.find(name)
                .orElseThrow(() -> new SandboxException(
                        new Failure.InvalidRequest("name", "must be one of " + Arrays.toString(Signal.values()))));
        var process = process(exchange);
        callers.awake(exchange.sandbox());
        process.signal(signal, tree ? SignalTarget.TREE : SignalTarget.PROCESS);
        exchange.answer(204);
    }

    /// Writes the body to the standard input; `eof=true` ends it then.
    public void stdin(Exchange exchange) throws IOException {
        exchange.allowQuery("eof");
        boolean eof = QueryFlags.of(exchange, "eof", false);
        var process = process(exchange);
        callers.awake(exchange.sandbox());
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

    /// Sends the output that was kept, then what comes, until the process ends; with `follow=false` only the first.
    public void output(Exchange exchange) throws IOException {
        exchange.allowQuery("follow");
        boolean follow = QueryFlags.of(exchange, "follow", true);
        var process = process(exchange);
        var follower = process.follow();
        var format = EventStream.Format.accepted(exchange).orElse(EventStream.Format.NDJSON);
        try (var events = EventStream.begin(exchange, format)) {
            var info = process.info();
            events.send("started", json -> ExecJson.started(json, info.pid(), info.id()));
            try {
                send(follower, events, follow);
            } catch (SandboxException e) {
                events.send("error", json -> ExecJson.failed(json, e.failure()));
            }
        }
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
                case News.Quiet _ when follow -> events.breathe();
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

    /// Kills a process with all its descendants; forgets one that has ended.
    public void kill(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var process = process(exchange);
        if (process.info().state() == ProcessInfo.State.RUNNING) {
            callers.awake(exchange.sandbox());
            process.signal(Signal.KILL, SignalTarget.TREE);
        } else {
            process.close();
        }
        exchange.answer(204);
    }

    private static ManagedProcess process(Exchange exchange) {
        return known(exchange).require(exchange.path("process_id"));
    }

    /// Looking wakes nobody, but right after a restart it waits until those of before have been found.
    private static Processes known(Exchange exchange) {
        exchange.sandbox().awaitFound();
        return exchange.sandbox().processes();
    }
}
