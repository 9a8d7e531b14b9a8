package dev.vivarium.testing;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import java.net.URI;
import java.nio.charset.StandardCharsets;

/// A shell's socket as bare as a client can have it. Confined to one worker, but for [#type].
public final class ShellClient implements AutoCloseable {
    private final TestSocket socket;
    private final StringBuilder screen = new StringBuilder();
    private String session = "";

    private ShellClient(TestSocket socket) {
        this.socket = socket;
    }

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
        var socket = new TestSocket(URI.create("ws://" + server.getAuthority() + path), headers);
        if (reading == Reading.ALWAYS) {
            socket.read(Long.MAX_VALUE);
        }
        return new ShellClient(socket);
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

    /// Takes what has come for a client that does not read by itself.
    public void read(long count) {
        socket.read(count);
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
        String text = socket.next().orElseThrow(() -> new AssertionError("nothing came; the screen: " + screen));
        if (text.isEmpty()) {
            throw new AssertionError("closed with " + socket.awaitClose() + "; the screen: " + screen);
        }
        JsonFields message = Json.answer(text);
        if (message.string("type").equals("stdout")) {
            screen.append(message.string("data"));
        }
        return message;
    }

    /// Waits for the server to hang up; the code it gave.
    public int awaitClose() {
        return socket.awaitClose();
    }

    /// Cuts the connection without a word.
    @Override
    public void close() {
        socket.close();
    }
}
