package dev.vivarium.testing;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// A shell's socket as bare as a client can have it. Confined to one worker, but for [#type].
public final class ShellClient implements AutoCloseable {
    private static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private static final long PATIENCE_S = 60;

    private final LinkedBlockingQueue<String> messages = new LinkedBlockingQueue<>();
    private final CompletableFuture<Integer> closed = new CompletableFuture<>();
    private final AtomicReference<@Nullable WebSocket> socket = new AtomicReference<>();
    private final StringBuilder screen = new StringBuilder();
    private String session = "";

    private ShellClient() {}

    /// Connects and says nothing.
    public static ShellClient connect(URI server, String sandbox) {
        return connect(server, sandbox, Reading.ALWAYS);
    }

    /// Whether a client takes what comes.
    public enum Reading {
        ALWAYS,
        /// Takes nothing until it is told to.
        NEVER
    }

    public static ShellClient connect(URI server, String sandbox, Reading reading) {
        return open(server, "/sandboxes/" + sandbox + "/shell", reading);
    }

    /// A socket to anything else of a server. `headers` are names and values, one after the other.
    public static ShellClient open(URI server, String path, Reading reading, String... headers) {
        var client = new ShellClient();
        URI uri = URI.create("ws://" + server.getAuthority() + path);
        var builder = CLIENT.newWebSocketBuilder();
        for (int i = 0; i < headers.length; i += 2) {
            builder.header(headers[i], headers[i + 1]);
        }
        client.socket.set(builder.buildAsync(uri, client.listener(reading)).join());
        return client;
    }

    /// Connects and is let in; `more` are further fields of the first message.
    public static ShellClient enter(URI server, String sandbox, String token, String more) {
        var client = connect(server, sandbox);
        client.auth(token, more);
        client.session = client.await("auth_ok").string("session_id");
        return client;
    }

    public ShellClient auth(String token, String more) {
        return send("{\"type\":\"auth\",\"token\":\"" + token + "\"" + (more.isEmpty() ? "" : "," + more) + "}");
    }

    /// The id of the shell it is in.
    public String session() {
        return session;
    }

    public ShellClient send(String message) {
        socket().sendText(message, true).join();
        return this;
    }

    public void sendBinary(byte[] bytes) {
        socket().sendBinary(ByteBuffer.wrap(bytes), true).join();
    }

    public ShellClient type(String text) {
        byte[] message = Json.bytes(out -> {
            out.writeStringProperty("type", "stdin");
            out.writeStringProperty("data", text);
        });
        return send(new String(message, StandardCharsets.UTF_8));
    }

    /// Takes what has come for a client that does not read by itself.
    public void read(long count) {
        socket().request(count);
    }

    /// The next message of this type; output on the way is put on the screen.
    public JsonFields await(String type) {
        while (true) {
            JsonFields message = next();
            if (message.string("type").equals(type)) {
                return message;
            }
        }
    }

    /// Waits until the screen shows `wanted`; returns all of it and clears it.
    public String awaitScreen(String wanted) {
        while (screen.indexOf(wanted) < 0) {
            next();
        }
        String shown = screen.toString();
        screen.setLength(0);
        return shown;
    }

    /// All that was shown and not taken yet.
    public String screen() {
        return screen.toString();
    }

    public JsonFields next() {
        try {
            String text = messages.poll(PATIENCE_S, TimeUnit.SECONDS);
            if (text == null) {
                throw new AssertionError("nothing came; the screen: " + screen);
            }
            if (text.isEmpty()) {
                throw new AssertionError("closed with " + closed.join() + "; the screen: " + screen);
            }
            JsonFields message = Json.answer(text);
            if (message.string("type").equals("stdout")) {
                screen.append(message.string("data"));
            }
            return message;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /// Waits for the server to hang up; the code it gave.
    public int awaitClose() {
        return closed.orTimeout(PATIENCE_S, TimeUnit.SECONDS).join();
    }

    /// Cuts the connection without a word.
    @Override
    public void close() {
        socket().abort();
    }

    private WebSocket socket() {
        WebSocket open = socket.get();
        if (open == null) {
            throw new IllegalStateException("not connected");
        }
        return open;
    }

    private WebSocket.Listener listener(Reading reading) {
        return new WebSocket.Listener() {
            private final StringBuilder partial = new StringBuilder();

            @Override
            public void onOpen(WebSocket opened) {
                if (reading == Reading.ALWAYS) {
                    opened.request(1);
                }
            }

            @Override
            public @Nullable CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
                partial.append(data);
                if (last) {
                    messages.add(partial.toString());
                    partial.setLength(0);
                }
                if (reading == Reading.ALWAYS) {
                    from.request(1);
                }
                return null;
            }

            @Override
            public @Nullable CompletionStage<?> onClose(WebSocket from, int code, String reason) {
                closed.complete(code);
                messages.add("");
                return null;
            }

            @Override
            public void onError(WebSocket from, Throwable error) {
                closed.completeExceptionally(error);
                messages.add("");
            }
        };
    }
}
