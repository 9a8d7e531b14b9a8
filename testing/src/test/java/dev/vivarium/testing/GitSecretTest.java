package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The credential of a repository does not enter the sandbox. Needs root.
@Tag("root")
@Timeout(180)
class GitSecretTest {
    private static final String BASIC = Base64.getEncoder()
            .encodeToString(("x-access-token:" + PlainGitHost.TOKEN).getBytes(StandardCharsets.UTF_8));

    /// Searches the environment and the arguments of every process, and every file. The secret is in no argument of
    /// the search itself, because arguments are events.
    private static final String SEARCH = """
            for secret in %s %s; do
              for file in /proc/[0-9]*/environ /proc/[0-9]*/cmdline; do
                if tr '\\0' '\\n' < "$file" 2> /dev/null | grep -aqFf <(printf '%%s\\n' "$secret"); then
                  echo "found in $file"
                fi
              done
              grep -raFlf <(printf '%%s\\n' "$secret") /workspace /tmp /home /root /etc /run /var 2> /dev/null
            done
            echo searched""";

    /// Collects the log of the server.
    private static final class LogLines extends Handler implements AutoCloseable {
        private final StringBuffer lines = new StringBuffer();

        LogLines() {
            Logger.getLogger("").addHandler(this);
        }

        @Override
        public void publish(LogRecord line) {
            lines.append(new SimpleFormatter().format(line));
        }

        @Override
        public void flush() {}

        @Override
        public void close() {
            Logger.getLogger("").removeHandler(this);
        }
    }

    @Test
    void theTokenIsNowhereInTheSandboxNorInTheLogs() throws IOException {
        try (var log = new LogLines();
                var host = new PlainGitHost();
                var server = TestServer.startIsolated(
                        "--memory-mb", "256", "--disk-mb", "64", "--pool-size", "0", "--git-private", "127.0.0.0/8")) {
            String url = host.repositoryWithCommit("shop");
            server.api().post("/api/v1/git/credentials", """
                    {"name":"forge","host":"%s","token":"%s","forge":"none"}""".formatted(host.host(), PlainGitHost.TOKEN));
            var run = AgentRun.of(
                    server,
                    "env; git config --list; git remote -v; GIT_TRACE_CURL=1 GIT_CURL_VERBOSE=1 git fetch 2>&1;"
                            + " echo 1 > a; git add a; git commit -qm one; GIT_TRACE_CURL=1 git push 2>&1;"
                            + " until [ -e go ]; do sleep 0.05; done",
                    "\"repository\":{\"url\":\"" + url + "\",\"credential\":\"forge\",\"on_success\":\"push\"}");
            run.awaitEvent("agent.output");
            await().untilAsserted(
                            () -> assertThat(host.work(url, "git branch -r")).contains("feature/"));

            // Each secret is in two parts, so that the search does not find itself.
            String search = SEARCH.formatted(split(PlainGitHost.TOKEN), split(BASIC));
            assertThat(server.api().execute(run.id(), search).string("stdout")).isEqualTo("searched\n");
            String control = SEARCH.formatted(split(url), split(BASIC));
            assertThat(server.api().execute(run.id(), control).string("stdout"))
                    .contains("/workspace/shop/.git/config");
            server.api().execute(run.id(), "touch /workspace/shop/go");
            run.awaitStatus("completed");
            String path = "/api/v1/runs/" + run.answer().string("run_id");
            await().untilAsserted(() ->
                    assertThat(server.api().get(path + "/git").text()).contains("delivered"));

            for (String shown : List.of(
                    run.events(""),
                    server.api().get(path).text(),
                    server.api().get(path + "/git").text(),
                    server.api().get("/api/v1/git/credentials").text(),
                    server.api().get("/admin/audit?limit=1000").text())) {
                assertThat(shown)
                        .isNotEmpty()
                        .doesNotContain(PlainGitHost.TOKEN)
                        .doesNotContain(BASIC);
            }
            assertThat(log.lines.toString()).doesNotContain(PlainGitHost.TOKEN).doesNotContain(BASIC);
            assertThat(filesWith(server.home(), PlainGitHost.TOKEN)).isEmpty();
            assertThat(filesWith(server.home(), BASIC)).isEmpty();
        }
    }

    private static String split(String secret) {
        return "\"" + secret.substring(0, 8) + "\"\"" + secret.substring(8) + "\"";
    }

    /// The home has the store, the logs, the disks and the mirrors.
    private static List<Path> filesWith(Path home, String secret) throws IOException {
        try (var files = Files.walk(home)) {
            return files.filter(Files::isRegularFile)
                    .filter(file -> contains(file, secret))
                    .toList();
        }
    }

    private static boolean contains(Path file, String secret) {
        try {
            return Files.size(file) < 64 << 20
                    && new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).contains(secret);
        } catch (IOException e) {
            return false;
        }
    }
}
