package dev.vivarium.cli.tty;

import dev.vivarium.cli.tty.Escapes.Order;
import dev.vivarium.json.JsonFields;
import dev.vivarium.json.ProblemJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.SandboxConnection;
import dev.vivarium.sdk.SandboxToken;
import dev.vivarium.sdk.Shells.Participant;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/// Terminal client of a shell in a sandbox. It reconnects to the same shell after a lost connection. It discards input
/// while disconnected and rings the bell, because the user sees an old screen.
///
/// The threads of the keyboard and of the socket pass events to the main thread, which also measures time.
public final class ShellClient {
    private static final Duration TICK = Duration.ofMillis(100);
    private static final Duration PING = Duration.ofSeconds(10);
    private static final Duration ASK = Duration.ofSeconds(5);
    private static final Duration DEAD = Duration.ofSeconds(25);
    private static final Duration FIRST_RETRY = Duration.ofMillis(250);
    private static final Duration LAST_RETRY = Duration.ofSeconds(4);
    private static final Duration GOODBYE = Duration.ofSeconds(2);
    private static final int UNAUTHORIZED = 4401;
    private static final int FORBIDDEN = 4403;
    private static final int NOT_THERE = 4404;
    private static final int GONE = 4410;
    private static final int LAST_REFUSAL = 4499;

    /// Close codes are this number plus the HTTP status.
    private static final int OWN = 4000;

    private static final int ABNORMAL = 1006;

    private final SandboxConnection connection;
    private final ShellRequest request;
    private final Supplier<Optional<Tty.Size>> window;
    private final Screen screen;
    private final TypeAhead ahead = new TypeAhead();
    private final BlockingQueue<Event> events = new ArrayBlockingQueue<>(32);

    /// Current connection, if joined.
    private volatile @Nullable Socket live;

    /// Whether the client only watches, on request or by its scope.
    private volatile boolean watching;

    private volatile Optional<String> session;
    private Optional<Tty.Size> size = Optional.empty();
    private String token = "";
    private long pingedAt;
    private long askedAt;
    private Duration wait = FIRST_RETRY;
    private boolean renewed;

    public ShellClient(
            SandboxConnection connection, ShellRequest request, Supplier<Optional<Tty.Size>> window, PrintStream out) {
        this.connection = connection;
        this.request = request;
        this.window = window;
        this.screen = new Screen(out);
        this.session = request.session();
        this.watching = request.observe();
    }

    /// Request of the user.
    ///
    /// @param session existing shell
    /// @param command program instead of a shell
    public record ShellRequest(boolean observe, boolean escapes, Optional<String> session, Optional<String> command) {}

    private sealed interface Event {
        record Entered() implements Event {}

        record Ended(int code) implements Event {}

        record Ordered(Order order) implements Event {}

        record Lost(int code, String reason) implements Event {}

        record Refused(String code, String message) implements Event {}
    }

    /// Runs until the end on the calling thread. The caller restores the terminal.
    public Ending run(InputStream keys) {
        var keyboard = new Keyboard(keys, new Escapes(request.escapes()));
        Thread.ofPlatform()
                .daemon()
                .name("viv-keyboard")
                .start(() -> keyboard.run(this::typed, order -> events.offer(new Event.Ordered(order))));
        HttpClient client = HttpClient.newHttpClient();
        try {
            return connectUntilEnd(client);
        } finally {
            client.shutdownNow();
        }
    }

    private Ending connectUntilEnd(HttpClient client) {
        while (true) {
            Event last = call(client);
            switch (last) {
                case Event.Ended(int code) -> {
                    return new Ending.Exited(code);
                }
                case Event.Ordered _ -> {
                    return new Ending.Left(session);
                }
                case Event.Refused(String code, String message) -> throw refused(code, message);
                case Event.Lost(int code, String reason) -> {
                    if (!isWorthAnotherTry(code, reason)) {
                        return new Ending.Left(session);
                    }
                }
                case Event.Entered _ -> throw new IllegalStateException("a visit does not end with its beginning");
            }
        }
    }

    /// Runs one connection.
    private Event call(HttpClient client) {
        try {
            SandboxToken current = connection.currentToken();
            try (Socket socket = Socket.open(client, current.ws(), new SocketListener())) {
                enter(socket, current.token());
                return handleEvents(socket);
            }
        } catch (CompletionException e) {
            return new Event.Lost(ABNORMAL, String.valueOf(e.getMessage()));
        } catch (SandboxException e) {
            return lost(e);
        } finally {
            if (live != null) {
                wait = FIRST_RETRY;
                renewed = false;
            }
            live = null;
        }
    }

    /// Reports whether a retry may help. A refusal is final.
    private static Event lost(SandboxException e) {
        if (e.failure().owner() == Failure.Owner.CALLER) {
            throw e;
        }
        return new Event.Lost(ABNORMAL, e.failure().sentence());
    }

    /// Throws a final failure, refreshes a refused token, and otherwise waits. Reports whether to continue.
    private boolean isWorthAnotherTry(int code, String reason) {
        if (code == UNAUTHORIZED && !renewed && renew()) {
            return true;
        }
        if (code > UNAUTHORIZED && code <= LAST_REFUSAL || code == UNAUTHORIZED && renewed) {
            throw refused(code, reason);
        }
        Duration now = wait;
        wait = shorter(wait.multipliedBy(2), LAST_RETRY);
        return pause(now) != Order.QUIT;
    }

    /// Reports whether a new token is available.
    private boolean renew() {
        try {
            connection.renewToken();
            renewed = true;
        } catch (SandboxException e) {
            var _ = lost(e);
        }
        return renewed;
    }

    private void enter(Socket socket, String first) {
        token = first;
        size = watching ? Optional.empty() : window.get();
        socket.send(out -> {
            out.writeStringProperty("type", "auth");
            out.writeStringProperty("token", token);
            session.ifPresent(id -> out.writeStringProperty("session_id", id));
            if (request.observe()) {
                out.writeBooleanProperty("observe", true);
            } else if (session.isEmpty()) {
                request.command().ifPresent(command -> out.writeStringProperty("command", command));
            }
            size.ifPresent(now -> writeSize(out, now));
        });
    }

    private static void writeSize(JsonGenerator out, Tty.Size size) {
        out.writeNumberProperty("cols", size.columns());
        out.writeNumberProperty("rows", size.rows());
    }

    /// Handles events until the connection ends.
    private Event handleEvents(Socket socket) {
        while (true) {
            Event event = next(TICK);
            switch (event) {
                case null -> tick(socket);
                case Event.Entered _ -> settle(socket);
                case Event.Ordered(Order order) when order == Order.HELP -> help();
                case Event.Ordered(Order order)
                when order == Order.QUIT && !watching -> {
                    return quit(socket);
                }
                default -> {
                    return event;
                }
            }
        }
    }

    /// Forwards input from now on, starting with the input before the connection.
    private void settle(Socket socket) {
        // Set before the kept input is taken: a thread that finds no kept input must find the connection.
        live = socket;
        for (String keys = ahead.take(); !keys.isEmpty(); keys = ahead.take()) {
            type(socket, keys);
        }
    }

    /// Sends SIGHUP and waits a limited time for the exit.
    private Event quit(Socket socket) {
        socket.send(out -> {
            out.writeStringProperty("type", "signal");
            out.writeStringProperty("name", "HUP");
        });
        Event last = next(GOODBYE);
        return last instanceof Event.Ended ? last : new Event.Ordered(Order.QUIT);
    }

    private void tick(Socket socket) {
        if (live == null) {
            return;
        }
        sendSize(socket);
        sendToken(socket);
        if (System.nanoTime() - pingedAt > PING.toNanos()) {
            pingedAt = System.nanoTime();
            socket.send(out -> out.writeStringProperty("type", "ping"));
        }
        if (socket.silence().compareTo(DEAD) > 0) {
            socket.abort("no data for " + DEAD.toSeconds() + " s");
        }
    }

    private void sendSize(Socket socket) {
        var now = window.get();
        if (!watching && now.isPresent() && !now.equals(size)) {
            size = now;
            socket.send(out -> {
                out.writeStringProperty("type", "resize");
                writeSize(out, now.get());
            });
        }
    }

    /// Sends the next token before the current one expires. Another `viv` process may have refreshed it.
    private void sendToken(Socket socket) {
        if (System.nanoTime() - askedAt < ASK.toNanos()) {
            return;
        }
        askedAt = System.nanoTime();
        try {
            String next = connection.currentToken().token();
            if (!next.equals(token)) {
                token = next;
                socket.send(out -> {
                    out.writeStringProperty("type", "auth");
                    out.writeStringProperty("token", next);
                });
            }
        } catch (SandboxException _) {
            // No token now. If this continues, the server closes the connection with a reason.
        }
    }

    /// Waits before the next attempt, and handles input to quit.
    private Order pause(Duration wait) {
        screen.status("connection lost; reconnecting in " + Math.max(1, wait.toSeconds()) + " s (~. to quit)");
        long until = System.nanoTime() + wait.toNanos();
        while (System.nanoTime() < until) {
            if (next(TICK) instanceof Event.Ordered(Order order) && order != Order.HELP) {
                return Order.QUIT;
            }
        }
        return Order.NONE;
    }

    private @Nullable Event next(Duration timeout) {
        try {
            return events.poll(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return new Event.Ordered(Order.DETACH);
        }
    }

    private void typed(String text) {
        boolean waits = !watching && ahead.keep(text);
        Socket socket = live;
        if (!waits && !watching && socket != null) {
            type(socket, text);
        } else if (!waits) {
            screen.messageSignal();
        }
    }

    private static void type(Socket socket, String text) {
        socket.send(out -> {
            out.writeStringProperty("type", "stdin");
            out.writeStringProperty("data", text);
        });
    }

    private void help() {
        screen.say(
                "At the beginning of a line:",
                "  ~.  end the shell and exit         ~d  detach; the shell continues",
                "  ~~  a tilde                        ~?  this");
    }

    /// Receives messages on the thread of the socket.
    private final class SocketListener implements Socket.Listener {
        private boolean inside;

        @Override
        public void received(JsonFields message) {
            switch (message.string("type")) {
                case "auth_ok" -> entered(message);
                case "stdout" -> screen.show(message.string("data"));
                case "exit" -> events.offer(new Event.Ended((int) message.integer("code")));
                case "missed" -> screen.status("some output was lost, because this terminal is too slow");
                case "error" -> onError(message.string("code"), message.string("message"));
                case "presence" -> screen.title(ParticipantNames.names(Participant.readAll(message)));
                default -> {
                    // Message of a newer server.
                }
            }
        }

        private void entered(JsonFields message) {
            if (inside) {
                return;
            }
            inside = true;
            if (session.isPresent()) {
                screen.clear(); // The recent screen comes again.
            }
            session = Optional.of(message.string("session_id"));
            watching = message.string("role").equals("watcher");
            if (watching && !request.observe()) {
                screen.status("you have read access to this shell (~. to leave)");
            }
            events.offer(new Event.Entered());
        }

        private void onError(String code, String message) {
            if (inside) {
                screen.status(message);
            } else {
                events.offer(new Event.Refused(code, message));
            }
        }

        @Override
        public void closed(int code, String reason) {
            events.offer(new Event.Lost(code, reason));
        }
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    private static SandboxException refused(int code, String reason) {
        return new SandboxException(
                switch (code) {
                    case UNAUTHORIZED -> new Failure.NotAuthenticated(reason);
                    case FORBIDDEN -> new Failure.NotAllowed(reason);
                    case NOT_THERE, GONE ->
                        ProblemJson.unrecognized("session-ended", code - OWN, "the shell ended: " + reason);
                    default -> ProblemJson.unrecognized("shell-closed", code - OWN, reason);
                });
    }

    private SandboxException refused(String code, String message) {
        boolean gone = code.equals("no-such-shell") && session.isPresent();
        return new SandboxException(
                ProblemJson.unrecognized(code, 404, gone ? "the shell ended: " + message : message));
    }
}
