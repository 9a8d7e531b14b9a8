package dev.vivarium.server.api;

import dev.vivarium.json.ExecJson;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.Exit;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.operation.RunningCommand;
import java.io.IOException;
import java.time.Duration;

/// Stream of the events of a command to a client. [#run] is confined to one thread.
///
/// It sends each event before it reads the next one, so that a slow client slows the command and no queue grows.
///
/// Only a write shows that the client closed its connection. A second thread therefore sends keep-alives while the
/// command is silent. If a keep-alive fails, the thread kills the command.
final class ExecStream implements AutoCloseable {
    private static final Duration KEEP_ALIVE = Duration.ofSeconds(2);

    private final EventStream events;
    private final RunningCommand command;
    private final OutputText text;
    private final Thread keeper;

    private ExecStream(EventStream events, RunningCommand command) {
        this.events = events;
        this.command = command;
        this.text = new OutputText(events);
        this.keeper = Thread.ofVirtual().name("keep-alive-" + command.pid()).unstarted(this::keepAlive);
    }

    static ExecStream begin(EventStream events, RunningCommand command) {
        var stream = new ExecStream(events, command);
        stream.keeper.start();
        return stream;
    }

    /// Sends all events up to the exit, or up to a failure that loses the command.
    void run() throws IOException {
        try {
            ExecEvent event;
            do {
                event = command.next();
                send(event);
            } while (!event.isLast());
        } catch (SandboxException e) {
            events.fail(e.failure());
        }
    }

    private void send(ExecEvent event) throws IOException {
        switch (event) {
            case ExecEvent.Started(int pid) ->
                events.send("started", json -> ExecJson.started(json, pid, command.processId()));
            case ExecEvent.Output(ExecEvent.Stream stream, byte[] bytes) -> text.send(stream, bytes);
            case ExecEvent.Exited(Exit exit) -> {
                text.end();
                events.send("exit", json -> ExecJson.exited(json, exit, false));
            }
        }
    }

    private void keepAlive() {
        try {
            while (true) {
                Thread.sleep(KEEP_ALIVE);
                events.keepAlive();
            }
        } catch (InterruptedException e) {
            // The stream has ended.
        } catch (IOException e) {
            // The client is gone. The thread that reads the events then gets the exit.
            command.kill();
        }
    }

    /// Ends the keep-alives and the response.
    @Override
    public void close() throws IOException {
        keeper.interrupt();
        try {
            keeper.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        events.close();
    }
}
