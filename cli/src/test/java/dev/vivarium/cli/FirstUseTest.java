package dev.vivarium.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.json.Json;
import dev.vivarium.testing.TestServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Commands that users of Docker or Fly try first.
@Timeout(300)
class FirstUseTest {
    private static TestServer server;

    private final String thread = "first-" + UUID.randomUUID();

    @TempDir
    private Path scratch;

    private CliRunner cli;

    @BeforeAll
    static void start() {
        server = TestServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void open() {
        cli = new CliRunner(server, scratch);
    }

    @Test
    void localServerIsFoundByItsPortAndByItsHome() throws Exception {
        Files.writeString(scratch.resolve("credentials"), server.adminKey() + "\n");
        var local = new CliRunner(server, scratch).without("VIV_SERVER", "VIV_API_KEY");
        local.with("VIV_HOME", scratch.toString());

        assertThat(local.with("VIV_PORT", "" + server.uri().getPort()).viv("threads"))
                .isZero();
        local.without("VIV_PORT");
        Files.writeString(scratch.resolve("address"), server.uri() + "\n");
        assertThat(local.viv("threads")).isZero();
        Files.writeString(scratch.resolve("address"), "http://sandboxes.example:1\n");
        assertThat(local.with("VIV_PORT", "1").viv("threads")).isEqualTo(ExitCode.UNREACHABLE);
        assertThat(local.err()).contains("--server", "VIV_SERVER", "viv serve");
    }

    @Test
    void creatingASandboxIsReportedOnce() {
        cli.viv("exec", thread, "--", "true");
        assertThat(cli.err()).contains("created sandbox for thread " + thread);
        cli.viv("exec", thread, "--", "true");
        assertThat(cli.err()).isEmpty();
    }

    @Test
    void namesOfOtherToolsWork() {
        cli.viv("exec", thread, "--", "true");
        for (String list : new String[] {"ps", "ls", "threads"}) {
            assertThat(cli.viv(list)).isZero();
            assertThat(cli.out()).contains(thread);
        }
        assertThat(cli.viv("status")).isZero();
        assertThat(cli.out()).contains("active");
    }

    @Test
    void namesWithoutACommandSuggestOne() {
        assertThat(cli.viv("rm", thread)).isEqualTo(ExitCode.USAGE);
        assertThat(cli.err()).contains("viv end " + thread);
        assertThat(cli.viv("login")).isEqualTo(ExitCode.USAGE);
        assertThat(cli.err()).contains("VIV_API_KEY").contains("config.toml");
    }

    @Test
    void cpCopiesDirectories() throws Exception {
        Path source = Files.createDirectories(scratch.resolve("src/deep")).getParent();
        Files.writeString(source.resolve("a.txt"), "a");
        Files.writeString(source.resolve("deep/run.sh"), "#!/bin/sh\n").toFile().setExecutable(true);
        Files.createSymbolicLink(source.resolve("link"), Path.of("a.txt"));

        assertThat(cli.viv("cp", source.toString(), thread + ":")).isEqualTo(ExitCode.USAGE);
        assertThat(cli.err()).contains("viv cp -r");
        assertThat(cli.viv("cp", "-r", source.toString(), thread + ":")).isZero();
        assertThat(cli.err()).contains("skipped").contains("link");
        Path back = Files.createDirectory(scratch.resolve("back"));
        assertThat(cli.viv("cp", "-r", thread + ":src", back.toString())).isZero();
        assertThat(back.resolve("src/a.txt")).hasContent("a");
        assertThat(back.resolve("src/deep/run.sh")).isExecutable();
        assertThat(cli.viv("cp", "-r", thread + ":src/a.txt", back.toString())).isZero();
        assertThat(back.resolve("a.txt")).hasContent("a");
        assertThat(cli.viv("cp", "-r", thread + ":", scratch.resolve("all").toString()))
                .isZero();
        assertThat(scratch.resolve("all/src/deep/run.sh")).exists();
        assertThat(cli.viv("cp", "-r", thread + ":none", back.toString())).isEqualTo(ExitCode.NOT_FOUND);
    }

    @Test
    void missingLocalFileIsNotFound() {
        assertThat(cli.viv("cp", scratch.resolve("none").toString(), thread + ":"))
                .isEqualTo(ExitCode.NOT_FOUND);
        assertThat(cli.err()).contains("none: no such file");
    }

    @Test
    void syncSkipsNamesWithLineFeedsForTheTrueReason() throws Exception {
        Path folder = Files.createDirectory(scratch.resolve("folder"));
        Files.writeString(folder.resolve("a\nb"), "x");
        for (String[] mode : new String[][] {{"-n"}, {"--push"}}) {
            assertThat(cli.viv("sync", thread, folder.toString(), mode[0])).isZero();
            assertThat(cli.out())
                    .contains("skipped  a\\nb")
                    .contains("line feed")
                    .doesNotContain("upload");
        }
    }

    @Test
    void previewPrintsTheHostOfThePortAndRefusesWrongPorts() {
        cli.viv("exec", thread, "--", "true");
        assertThat(cli.viv("preview", thread, "8080")).isZero();
        assertThat(URI.create(cli.out().strip()).getHost()).matches("8080-sbx[a-z0-9]+\\.localhost");
        for (String port : new String[] {"99999", "0", "-1"}) {
            assertThat(cli.viv("preview", thread, port)).isEqualTo(ExitCode.USAGE);
        }
    }

    @Test
    void linkSignsABrowserInOnce() throws Exception {
        cli.viv("exec", thread, "--", "true");
        assertThat(cli.viv("open", thread)).isZero();
        var link = URI.create(cli.out().strip());
        assertThat(link.getPath()).isEqualTo("/console/sign-in");
        assertThat(link.getQuery()).startsWith("next=/console/sandboxes/sbx");
        String code = link.getFragment().substring("code=".length());

        var first = signIn(code);
        assertThat(first.statusCode()).isEqualTo(204);
        assertThat(first.headers().firstValue("Set-Cookie").orElse("")).contains("HttpOnly");
        assertThat(signIn(code).statusCode()).isEqualTo(401);
    }

    private static HttpResponse<String> signIn(String code) throws Exception {
        try (var client = HttpClient.newHttpClient()) {
            return client.send(
                    HttpRequest.newBuilder(server.uri().resolve("/console/session"))
                            .header("Origin", server.uri().toString())
                            .header("Content-Type", "application/json")
                            .POST(HttpRequest.BodyPublishers.ofByteArray(
                                    Json.bytes(out -> out.writeStringProperty("code", code))))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
        }
    }

    @Test
    void errorsNameTheThreadAndTheWayOutOfTheRole() {
        assertThat(cli.viv("pause", thread)).isEqualTo(ExitCode.NOT_FOUND);
        assertThat(cli.err()).contains("thread " + thread).doesNotContain("session");
        cli.viv("keys", "issue", "ben");
        var ben = new CliRunner(server, scratch).with("VIV_API_KEY", cli.out().strip());
        assertThat(ben.viv("keys", "list")).isEqualTo(ExitCode.DENIED);
        assertThat(ben.err()).contains("admin key").doesNotContain("viv share");
    }
}
