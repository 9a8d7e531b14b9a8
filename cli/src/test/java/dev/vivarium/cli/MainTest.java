package dev.vivarium.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.json.Json;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class MainTest {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @TempDir
    private Path home;

    @Test
    void everyCommandWithOutputHasAJsonOption() {
        var silent = new ArrayList<String>();
        visit(viv(Map.of()).commandLine("", ""), silent);

        assertThat(silent)
                .containsExactlyInAnyOrder("viv", "keys", "task", "webhook", "git", "pr", "credential", "help");
    }

    @Test
    void everyCommandIsInTheReference() throws Exception {
        String reference = Files.readString(Path.of("../docs/reference/cli.md"));
        assertThat(viv(Map.of()).commandLine("", "").getSubcommands().keySet())
                .filteredOn(name -> !name.equals("help"))
                .allSatisfy(name -> assertThat(reference).contains("### viv " + name + "\n"));
    }

    @Test
    void missingCommandPrintsTheFirstSteps() {
        assertThat(viv(Map.of()).run()).isEqualTo(ExitCode.USAGE);
        assertThat(err()).contains("viv --help").contains("viv serve").contains("viv exec");
        assertThat(out.toString(StandardCharsets.UTF_8)).isEmpty();
    }

    @Test
    void helpIsPrintedToStandardOutput() {
        assertThat(viv(Map.of()).run("exec", "--help")).isZero();
        assertThat(out.toString(StandardCharsets.UTF_8)).contains("THREAD").contains("--timeout");
    }

    @Test
    void helpListsTheCommandsOfTheServer() {
        assertThat(viv(Map.of()).run("--help")).isZero();
        assertThat(out.toString(StandardCharsets.UTF_8)).contains("  serve ", "  image ", "  purge ", "  demo ");
    }

    @Test
    void missingKeyIsReportedWithTheSearchedPlaces() {
        assertThat(viv(Map.of("VIV_HOME", home.toString())).run("ls", "t1")).isEqualTo(ExitCode.NOT_SIGNED_IN);
        assertThat(err())
                .contains("VIV_API_KEY")
                .contains(home.resolve("credentials").toString());
    }

    @Test
    void localKeyIsNotSentToAnotherServer() throws Exception {
        Files.writeString(home.resolve("credentials"), "e2b_secret\n");

        int code = viv(Map.of("VIV_HOME", home.toString())).run("ls", "t1", "--server", "http://sandboxes.example");

        assertThat(code).isEqualTo(ExitCode.NOT_SIGNED_IN);
    }

    @Test
    void unreachableServerHasItsOwnExitCode() throws Exception {
        int port;
        try (var socket = new ServerSocket(0)) {
            port = socket.getLocalPort();
        }
        var env = Map.of("VIV_SERVER", "http://127.0.0.1:" + port, "VIV_API_KEY", "e2b_x");

        assertThat(viv(env).run("health")).isEqualTo(ExitCode.UNREACHABLE);
        assertThat(viv(env).run("exec", "t1", "--", "ls", "-l")).isEqualTo(ExitCode.EXEC_FAILED);
        assertThat(viv(env).run("ls", "t1", "--json")).isEqualTo(ExitCode.UNREACHABLE);
        assertThat(err().lines().toList().getLast())
                .startsWith("{\"error\":{\"code\":\"server-unreachable\"")
                .contains("\"hint\"", "\"retryable\":true");
    }

    @Test
    void usageErrorHasAHintAndAJsonForm() {
        assertThat(viv(Map.of()).run("exce", "t1")).isEqualTo(ExitCode.USAGE);
        assertThat(err()).contains("viv has no command exce", "Did you mean", "exec");
        err.reset();
        assertThat(viv(Map.of()).run("images")).isEqualTo(ExitCode.USAGE);
        assertThat(err())
                .contains("viv has no command images", "viv image list")
                .doesNotContain("Did you mean");
        err.reset();
        assertThat(viv(Map.of()).run("cat", "--json")).isEqualTo(ExitCode.USAGE);
        assertThat(Json.answer(err()).object("error").string("code")).isEqualTo("usage");
    }

    @Test
    void keysAreNotAcceptedOnTheCommandLine() {
        assertThat(viv(Map.of()).run("ls", "t1", "--key", "e2b_x")).isEqualTo(ExitCode.USAGE);
    }

    @Test
    void missingProfileIsReported() {
        var env = Map.of("VIV_CONFIG_FILE", home.resolve("none.toml").toString());
        assertThat(viv(env).run("ls", "t1", "--profile", "work")).isEqualTo(ExitCode.USAGE);
        assertThat(err()).contains("'work' is not in");
    }

    @Test
    void profileKeyIsNotSentToAnotherServer() throws Exception {
        Path file = Files.writeString(
                home.resolve("config.toml"), "[profile.default]\nserver='http://one.example'\nkey-file='/nowhere'\n");
        int code = viv(Map.of("VIV_CONFIG_FILE", file.toString())).run("ls", "t1", "--server", "http://two.example");
        assertThat(code).isEqualTo(ExitCode.NOT_SIGNED_IN);
        assertThat(err()).contains("no API key");
    }

    @Test
    void versionPrintsTheBuildVersion() {
        assertThat(viv(Map.of()).run("version")).isZero();
        assertThat(out.toString(StandardCharsets.UTF_8)).matches("viv \\d+\\.\\d+\\.\\d+\\S*\n");
    }

    private Main viv(Map<String, String> env) {
        return new Main(new Terminal(
                InputStream.nullInputStream(),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                env,
                Terminal.Ttys.NONE));
    }

    private String err() {
        return err.toString(StandardCharsets.UTF_8);
    }

    private static void visit(CommandLine command, List<String> withoutJson) {
        if (command.getCommandSpec().findOption("--json") == null) {
            withoutJson.add(command.getCommandName());
        }
        command.getSubcommands().values().forEach(sub -> visit(sub, withoutJson));
    }
}
