package dev.vivarium.bench;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/// Load of users and agents on a server that is killed repeatedly. Thread-safe.
///
/// Producers append events and retry under the same id until the server acknowledges them. Others send and read
/// messages, run commands, and create and end sandboxes.
final class ChaosLoad implements AutoCloseable {
    private static final int PRODUCERS = 32;
    private static final int CREATORS = 2;

    private final Chaos.Line line;
    private final List<String> sandboxes;
    private final Ledger ledger;
    private final AtomicInteger threads = new AtomicInteger();
    private final List<Thread> workers = new ArrayList<>();
    private volatile boolean speaking = true;
    private volatile boolean running = true;

    ChaosLoad(Chaos.Line line, List<String> sandboxes, Ledger ledger) {
        this.line = line;
        this.sandboxes = sandboxes;
        this.ledger = ledger;
        for (int i = 0; i < PRODUCERS; i++) {
            int number = i;
            start("producer-" + i, () -> produce(number));
        }
        for (int i = 0; i < CREATORS; i++) {
            start("creator-" + i, () -> repeat(this::create));
        }
        start("runner", () -> repeat(http -> VivServer.execute(http, any(0), "test $((6 * 7)) = 42")));
        start("speaker", this::speak);
        start("listener", () -> repeat(this::listen));
    }

    private void start(String name, Runnable work) {
        workers.add(Thread.ofVirtual().name(name).start(work));
    }

    private String any(int number) {
        return sandboxes.get(number % sandboxes.size());
    }

    private void produce(int producer) {
        var client = new RetryingClient();
        for (int n = 0; running; n++) {
            String sandbox = any(producer + n);
            String id = "p" + producer + "-" + n;
            String body =
                    "{\"event_type\":\"chaos.step\",\"event_id\":\"" + id + "\",\"event_data\":{\"n\":" + n + "}}";
            client.untilAnswered(http -> {
                var answer = http.post("/api/v1/sandboxes/" + sandbox + "/events", body);
                if (answer.status() >= 500) {
                    throw new IllegalStateException(answer.text());
                }
                ledger.appended(sandbox, id, Json.answer(answer.text()).integer("seq"));
            });
        }
        client.hangUp();
    }

    private void speak() {
        var client = new RetryingClient();
        for (int n = 0; speaking; n++) {
            String body = "{\"content\":\"message " + n + "\"}";
            client.untilAnswered(http -> ledger.said(http.post("/api/v1/sandboxes/" + any(0) + "/messages", body)
                    .expect(202)
                    .member("message_id")));
            Chaos.Line.pause();
        }
        client.hangUp();
    }

    private void listen(Http http) {
        String text = http.get("/api/v1/sandboxes/" + any(0) + "/messages?wait=1")
                .expect(200)
                .text();
        for (JsonFields message : Json.answer("{\"messages\":" + text + "}").objects("messages")) {
            ledger.received(message.string("message_id"));
        }
    }

    private void create(Http http) {
        String session = VivServer.create(http, "chaos-new-" + threads.incrementAndGet());
        VivServer.execute(http, session, "echo hello > file; sleep 1000 &");
        VivServer.cleanup(http, session);
    }

    /// Connection to the current server. Confined to one worker.
    private final class RetryingClient {
        private Optional<Http> http = Optional.empty();

        /// Retries on a new connection until the call succeeds. After the load stops, it retries a limited
        /// number of times.
        void untilAnswered(Consumer<Http> call) {
            for (int left = 100; left > 0; left -= running ? 0 : 1) {
                try {
                    Http open = http.orElseGet(() -> line.server().connect());
                    http = Optional.of(open);
                    call.accept(open);
                    return;
                } catch (UncheckedIOException | IllegalStateException gone) {
                    hangUp();
                    Chaos.Line.pause();
                }
            }
            ledger.wrong("a call was never answered");
        }

        void hangUp() {
            http.ifPresent(Http::close);
            http = Optional.empty();
        }
    }

    /// Repeats a call. Failures while the server is down do not count here.
    private void repeat(Consumer<Http> call) {
        while (running) {
            try (var http = line.server().connect()) {
                while (running) {
                    call.accept(http);
                }
            } catch (UncheckedIOException | IllegalStateException gone) {
                Chaos.Line.pause();
            }
        }
    }

    /// Lets all workers finish, the reader of messages last.
    void stop() {
        speaking = false;
        for (int i = 0; i < 100 && !ledger.undelivered().isEmpty(); i++) {
            Chaos.Line.pause();
        }
        close();
    }

    /// Idempotent.
    @Override
    public void close() {
        running = false;
        try {
            for (Thread worker : workers) {
                worker.join();
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
