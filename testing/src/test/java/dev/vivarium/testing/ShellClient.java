package dev.vivarium.testing;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import java.net.URI;
import java.nio.charset.StandardCharsets;

/// Minimal WebSocket client of a shell. Confined to one thread, except [#type].
public final class ShellClient implements AutoCloseable {
    private final TestSocket socket;
    private final StringBuilder screen = new StringBuilder();
    private String session = "";

    private ShellClient(TestSocket socket) {
        this.socket = socket;
    }

    /// Connects and sends nothing.
    public static ShellClient connect(URI server, String sandbox) {
        return connect(server, sandbox, Reading.ALWAYS);
    }

    /// Whether a client reads messages.
    public enum Reading {
        ALWAYS,
        /// Reads only when the test calls [#read].
        NEVER
    }

    public static ShellClient connect(URI server, String sandbox, Reading reading) {
        return open(server, "/sandboxes/" + sandbox + "/shell", reading);
    }

    /// Connects to another WebSocket of a server. `headers` are names and values in alternation.
    public static ShellClient open(URI server, String path, Reading reading, String... headers) {
        var socket = new TestSocket(URI.create("ws://" + server.getAuthority() + path), headers);
        if (reading == Reading.ALWAYS) {
            socket.read(Long.MAX_VALUE);
        }
        return new ShellClient(socket);
    }

    /// Connects and authenticates. `more` are further fields of the first message.
    public static ShellClient enter(URI server, String sandbox, String token, String more) {
        var client = connect(server, sandbox);
        client.auth(token, more);
        client.session = client.await("auth_ok").string("session_id");
        return client;
    }

    public ShellClient auth(String token, String more) {
        return send("{\"type\":\"auth\",\"token\":\"" + token + "\"" + (more.isEmpty() ? "" : "," + more) + "}");
    }

    /// Returns the id of the attached shell.
    public String session() {
        return session;
    }

    public ShellClient send(String message) {
        socket.send(message);
        return this;
    }

    public void sendBinary(byte[] bytes) {
        socket.send(bytes);
    }

    public ShellClient type(String text) {
        byte[] message = Json.bytes(out -> {
            out.writeStringProperty("type", "stdin");
            out.writeStringProperty("data", text);
        });
        return send(new String(message, StandardCharsets.UTF_8));
    }

    /// Reads messages for a client that does not read by itself.
    public void read(long count) {
        socket.read(count);
    }

    /// Returns the next message of this type. It appends earlier output to the screen.
    public JsonFields await(String type) {
        while (true) {
            JsonFields message = next();
            if (message.string("type").equals(type)) {
                return message;
            }
        }
    }

    /// Waits until the screen shows `wanted`. Returns the screen and clears it.
    public String awaitScreen(String wanted) {
        while (screen.indexOf(wanted) < 0) {
            next();
        }
        String shown = screen.toString();
        screen.setLength(0);
        return shown;
    }

    /// Returns the output since the last [#awaitScreen].
    public String screen() {
        return screen.toString();
    }

    public JsonFields next() {
        String text = socket.next().orElseThrow(() -> new AssertionError("no message arrived; screen: " + screen));
        if (text.isEmpty()) {
            throw new AssertionError("closed with " + socket.awaitClose() + "; the screen: " + screen);
        }
        JsonFields message = Json.answer(text);
        if (message.string("type").equals("stdout")) {
            screen.append(message.string("data"));
        }
        return message;
    }

    /// Waits until the server closes the socket, and returns the close code.
    public int awaitClose() {
        return socket.awaitClose();
    }

    /// Closes the connection without a close frame.
    @Override
    public void close() {
        socket.close();
    }
}
