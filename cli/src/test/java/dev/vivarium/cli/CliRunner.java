package dev.vivarium.cli;

import dev.vivarium.cli.Terminal.Ttys;
import dev.vivarium.testing.TestServer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Runs `viv` commands in this process and captures their output. Each command starts with empty output. Confined to
/// one thread.
final class CliRunner {
    private final Map<String, String> env = new HashMap<>();
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private Ttys ttys = Ttys.NONE;
    private String input = "";

    CliRunner(TestServer server, Path home) {
        env.put("VIV_SERVER", server.uri().toString());
        env.put("VIV_API_KEY", server.adminKey());
        env.put("HOME", home.toString());
    }

    CliRunner with(String variable, String value) {
        env.put(variable, value);
        return this;
    }

    CliRunner without(String... variables) {
        List.of(variables).forEach(env::remove);
        return this;
    }

    CliRunner types(String text) {
        input = text;
        return this;
    }

    CliRunner at(Ttys given) {
        ttys = given;
        return this;
    }

    int viv(String... args) {
        out.reset();
        err.reset();
        return main().run(args);
    }

    Main main() {
        return new Main(new Terminal(
                new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                env,
                ttys));
    }

    String out() {
        return out.toString(StandardCharsets.UTF_8);
    }

    String err() {
        return err.toString(StandardCharsets.UTF_8);
    }
}
