package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.provider.FileTrees;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A server that runs out of memory exits at once, and the next one finds all sandboxes.
@Timeout(180)
class OutOfMemoryTest {
    private static final int OUT_OF_MEMORY = 3;

    private Path home;

    @BeforeEach
    void makeHome() throws IOException {
        home = Files.createTempDirectory("viv-oom").toRealPath();
    }

    @AfterEach
    void removeHome() throws IOException {
        ServerProcess.purge(home, "--provider", "process");
        FileTrees.delete(home);
    }

    @Test
    void sandboxesSurviveAnOutOfMemoryServer() throws IOException {
        String sandbox;
        String pid;
        // The budget exceeds the heap, so that it does not protect the server.
        try (var server = ServerProcess.startWith(
                List.of("-Xmx48m", "-XX:+ExitOnOutOfMemoryError"),
                home,
                "--provider",
                "process",
                "--max-bytes-in-flight-mb",
                "100000")) {
            sandbox = server.api().session();
            server.api().execute(sandbox, "echo kept > kept; seq -f 'file-%0200.0f' 1 40000 | xargs touch");
            pid = server.api()
                    .execute(sandbox, "sleep 1000 >/dev/null 2>&1 & echo $!")
                    .string("stdout")
                    .strip();
            var sockets = new ArrayList<Socket>();
            for (int i = 0; i < 20; i++) {
                sockets.add(send(
                        server,
                        "GET /list_files?session_id=" + sandbox + " HTTP/1.1\r\nHost: x\r\n" + "Authorization: Bearer "
                                + server.api().key() + "\r\n\r\n"));
            }
            assertThat(server.awaitExit()).isEqualTo(OUT_OF_MEMORY);
            for (Socket socket : sockets) {
                socket.close();
            }
        }
        try (var server = ServerProcess.start(home, "--provider", "process")) {
            var found = server.api().execute(sandbox, "cat kept; kill -0 " + pid + " && echo alive");
            assertThat(found.string("stdout")).isEqualTo("kept\nalive\n");
        }
    }

    private static Socket send(ServerProcess server, String text) throws IOException {
        var socket = new Socket();
        socket.setReceiveBufferSize(4096);
        socket.connect(
                new InetSocketAddress(server.uri().getHost(), server.uri().getPort()));
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
        return socket;
    }
}
