package dev.vivarium.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.testbed.GiteaServer;
import dev.vivarium.testing.TestServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Runs the shell commands of `README.md`, `docs/start` and `docs/guides` against a real server. The blocks of a page
/// share one shell. The comment `<!-- not run: REASON -->` before a block excludes it, and `<!-- setup: COMMAND -->`
/// runs a command that the page does not show. `git.example.com` is a real Gitea.
@Timeout(300)
class GuidesTest {
    private static final Path DOCS = Path.of("..", "docs");

    /// A setup comment, or a fenced block with its language and the comment before it.
    private static final Pattern PART = Pattern.compile("(?ms)^<!-- setup: (?<setup>.*?) -->$"
            + "|(?:^ *<!-- not run: (?<reason>[^\n]+) -->\\n\\n)?^ *```(?<language>\\w*)\\n(?<code>.*?)^ *```$");

    private static final Pattern COMMAND = Pattern.compile("(?m)^ *(?:bin/viv|viv|curl|make|git|sudo) ");

    /// Lets the commands reach the test server, and fail if the server returns an error.
    private static final String PRELUDE = """
            set -euo pipefail
            curl() {
                local arguments=() argument
                for argument; do
                    argument=${argument//127.0.0.1:8000/$ADDRESS}
                    arguments+=("${argument//localhost:8000/$ADDRESS}")
                done
                command curl --fail-with-body "${arguments[@]}"
            }
            create_repository() {
                curl -s -H "Authorization: token $GIT_TOKEN" --json '{"name": "'"$1"'", "auto_init": true}' \
                    "$GIT_URL/api/v1/user/repos"
            }
            """;

    /// Git host of the pages.
    private static final String GIT_HOST = "git.example.com";

    /// Receiver of webhooks on the pages.
    private static final String RECEIVER = "https://hooks.example.com";

    private static TestServer server;
    private static GiteaServer gitea;

    @TempDir
    private Path directory;

    @BeforeAll
    static void start() {
        server = TestServer.start("--git-private", "127.0.0.1/32", "--webhook-allow-private", "on");
    }

    @AfterAll
    static void stop() {
        server.close();
        if (gitea != null) {
            gitea.close();
        }
    }

    static Stream<Path> pages() throws IOException {
        var found = new ArrayList<>(List.of(Path.of("..", "README.md")));
        for (String purpose : List.of("start", "guides")) {
            try (var pages = Files.list(DOCS.resolve(purpose))) {
                found.addAll(pages.sorted().toList());
            }
        }
        return found.stream();
    }

    @ParameterizedTest
    @MethodSource("pages")
    void everyCommandOfAPageSucceeds(Path page) throws Exception {
        var script = new StringBuilder(PRELUDE);
        for (MatchResult part : PART.matcher(Files.readString(page)).results().toList()) {
            if (part.group("setup") != null) {
                script.append(part.group("setup")).append('\n');
            } else if (part.group("language").equals("sh")) {
                script.append(part.group("reason") == null ? part.group("code") : "");
            } else {
                assertThat(part.group("code"))
                        .as("a block with commands has the language sh")
                        .doesNotContainPattern(COMMAND);
            }
        }

        run(withHosts(script.toString()));
    }

    /// Replaces the names of other hosts. Starts a git host for the first page that needs one.
    private static String withHosts(String text) {
        String script = text.replace(RECEIVER, server.uri().toString());
        if (!script.contains(GIT_HOST)) {
            return script;
        }
        if (gitea == null) {
            gitea = GiteaServer.start();
        }
        return "GIT_URL=" + gitea.uri() + " GIT_TOKEN=" + gitea.token() + "\n"
                + script.replace("https://" + GIT_HOST, gitea.uri().toString())
                        .replace(GIT_HOST, gitea.uri().getAuthority());
    }

    private void run(String script) throws IOException, InterruptedException {
        installViv();
        Path home = Files.createDirectory(directory.resolve(".vivarium"));
        Files.writeString(home.resolve("credentials"), server.adminKey() + "\n");
        var builder = new ProcessBuilder("bash", "-x", "-c", script)
                .directory(directory.toFile())
                .redirectErrorStream(true);
        var environment = builder.environment();
        environment.put("HOME", directory.toString());
        environment.put("PATH", directory.resolve("bin") + ":" + environment.get("PATH"));
        environment.put("ADDRESS", server.uri().getAuthority());
        environment.put("VIV_SERVER", server.uri().toString());
        environment.put("VIV_HOME", home.toString());
        environment.put("VIV_API_KEY", server.adminKey());
        Process process = builder.start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(process.waitFor()).as(output).isZero();
    }

    /// Writes `bin/viv`, which starts the built distribution. Without one, as in a run of this test alone, it
    /// starts the classes under test.
    private void installViv() throws IOException {
        Path viv = Files.createDirectory(directory.resolve("bin")).resolve("viv");
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String classes = "'%s' -XX:TieredStopAtLevel=1 -cp '%s' dev.vivarium.cli.Main"
                .formatted(java, System.getProperty("java.class.path"));
        String program = Optional.ofNullable(System.getProperty("vivarium.distribution"))
                .map(built -> "'" + built + "/bin/viv'")
                .orElse(classes);
        Files.writeString(viv, "#!/bin/sh\nexec %s \"$@\"\n".formatted(program));
        assertThat(viv.toFile().setExecutable(true)).isTrue();
    }
}
