package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Hot reload through a preview: a changed file changes the open page. Needs root.
@Tag("root")
@Timeout(120)
class HotReloadTest {
    @Test
    void changedFileReachesTheOpenPage() throws IOException {
        try (var server = TestServer.startIsolated()) {
            var api = server.api();
            String session = api.session();
            api.upload(session, "page.html", "before");
            var program = Program.start(server, session, "hot.js", "node hot.js");
            assertThat(program.getAtHost("/").body()).isEqualTo("before");

            try (var socket = program.connect()) {
                String request = "GET /changes HTTP/1.1\r\nHost: " + program.host() + "\r\n" + program.auth() + "\r\n";
                socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
                var lines = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
                await(lines, "data: listening");
                api.upload(session, "page.html", "after");
                await(lines, "data: reload");
            }
            assertThat(program.getAtHost("/").body()).isEqualTo("after");
        }
    }

    private static void await(BufferedReader lines, String wanted) throws IOException {
        for (String line = lines.readLine(); !wanted.equals(line); line = lines.readLine()) {
            assertThat(line).as("before %s", wanted).isNotNull();
        }
    }
}
