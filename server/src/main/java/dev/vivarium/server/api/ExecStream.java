package dev.vivarium.server.api;

import dev.vivarium.core.exec.Execution;
import dev.vivarium.core.exec.SignalTarget;
import dev.vivarium.json.ExecJson;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.time.Duration;

/// A command's events on their way to a client. Output is pulled one piece at a time and sent before the next is
/// asked for, so that a slow client slows the command and fills no queue.
///
/// A hang-up is noticed by writing. A silent command gives nothing to write, so that a second worker sends a
/// keep-alive now and then; when that fails, it ends the command.
final class ExecStream implements AutoCloseable {
    private static final Duration KEEP_ALIVE = Duration.ofSeconds(2);
    private static final int KILL = 9;

    private final EventStream events;
    private final Execution execution;
    private final String process;
    private final OutputText text;
    private final Thread keeper;

    private ExecStream(EventStream events, Execution execution, String process) {
        this.events = events;
        this.execution = execution;
        this.process = process;
        this.text = new OutputText(events);
        this.keeper = Thread.ofVirtual().name("keep-alive-" + execution.pid()).unstarted(this::keepAlive);
    }

    /// `process` is the name by which others find the command.
    static ExecStream begin(EventStream events, Execution execution, String process) {
        var stream = new ExecStream(events, execution, process);
        stream.keeper.start();
        return stream;
    }

    /// Sends everything up to the exit, or up to the failure by which the command was lost.
    void run(Ending ending) throws IOException {
        try {
            ExecEvent event;
            do {
                event = execution.next();
                if (event instanceof ExecEvent.Exited(Exit exit)) {
                    ending.exited(exit);
                }
                send(event);
            } while (!event.isLast());
        } catch (SandboxException e) {
            ending.failed(e.failure());
            events.fail(e.failure());
        }
    }

    /// Hears how the command ended, before the client does.
    interface Ending {
        void exited(Exit exit);

        void failed(Failure failure);
    }

    private void send(ExecEvent event) throws IOException {
        switch (event) {
            case ExecEvent.Started(int pid) -> events.send("started", json -> ExecJson.started(json, pid, process));
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
                events.breathe();
            }
        } catch (InterruptedException e) {
            // The stream is at its end.
        } catch (IOException e) {
            // Nobody listens any more. The worker that waits for output then meets the exit.
            execution.signal(KILL, SignalTarget.TREE);
        }
    }

    /// Ends the keep-alive and the answer.
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
