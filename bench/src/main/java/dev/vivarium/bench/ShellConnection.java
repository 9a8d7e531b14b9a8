package dev.vivarium.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.regex.Pattern;

/// WebSocket to a shell. Confined to one worker that reads and one that types.
final class ShellConnection implements AutoCloseable {
    private static final String SHOWN = "{\"type\":\"stdout\",\"data\":\"";
    private static final Pattern SESSION = Pattern.compile("\"session_id\":\"([^\"]+)\"");

    private final WebSocket socket;
    private final String sandbox;
    private String session = "";

    private ShellConnection(WebSocket socket, String sandbox) {
        this.socket = socket;
        this.sandbox = sandbox;
    }

    /// Starts `command` in a new shell and waits for its first line.
    static ShellConnection open(int port, String key, String sandbox, String command) {
        return connect(port, sandbox, "\"token\":\"" + key + "\",\"command\":\"" + command + "\"");
    }

    /// Attaches to the shell of another connection and waits for its first line.
    static ShellConnection join(int port, String key, ShellConnection other) {
        return connect(port, other.sandbox, "\"token\":\"" + key + "\",\"session_id\":\"" + other.session + "\"");
    }

    private static ShellConnection connect(int port, String sandbox, String auth) {
        try {
            var shell = new ShellConnection(WebSocket.open(port, "/sandboxes/" + sandbox + "/shell"), sandbox);
            shell.send("{\"type\":\"auth\"," + auth + "}");
            var answer = SESSION.matcher(shell.next());
            if (!answer.find()) {
                throw new IOException("not let into a shell of " + sandbox);
            }
            shell.session = answer.group(1);
            shell.await("ready");
            return shell;
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /// Types `text`, which must contain no characters that need escapes, except line ends.
    void type(String text) {
        try {
            send("{\"type\":\"stdin\",\"data\":\"" + text.replace("\n", "\\n") + "\"}");
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /// Reads until the shell has shown `count` characters. Fails on a message other than output or presence.
    String read(int count) {
        var shown = new StringBuilder();
        try {
            while (shown.length() < count) {
                String message = next();
                if (message.startsWith(SHOWN)) {
                    String data = message.substring(SHOWN.length(), message.length() - 2);
                    shown.append(data.replace("\\n", "\n"));
                } else if (!message.contains("\"presence\"")) {
                    throw new IOException(message);
                }
            }
            return shown.toString();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /// Types `text` and waits for its echo.
    void echo(String text) {
        try {
            send("{\"type\":\"stdin\",\"data\":\"" + text + "\"}");
            await("\"data\":\"" + text + "\"");
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private void send(String message) throws IOException {
        socket.send(message);
    }

    private void await(String wanted) throws IOException {
        while (!next().contains(wanted)) {
            // A presence message, or earlier output.
        }
    }

    private String next() throws IOException {
        return socket.next();
    }

    void awaitClose() {
        socket.awaitClose();
    }

    @Override
    public void close() {
        socket.close();
    }
}
