package dev.vivarium.cli;

import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// Runs frequent commands, so that `scripts/train-aot` can record the loaded classes. Ignores results and failures.
public final class AotTraining {
    private static final String THREAD = "aot";

    private AotTraining() {}

    public static void main(String[] args) {
        var out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        var err = new PrintStream(System.err, true, StandardCharsets.UTF_8);
        for (Terminal.Ttys ttys : List.of(Terminal.Ttys.NONE, new Terminal.Ttys(true, true, true, 80))) {
            var terminal = new Terminal(InputStream.nullInputStream(), out, err, System.getenv(), ttys);
            for (List<String> line : lines()) {
                new Main(terminal).run(line.toArray(String[]::new));
            }
        }
        out.println(Version.current());
        out.flush();
    }

    private static List<List<String>> lines() {
        return List.of(
                List.of("exec", THREAD, "--", "echo trained > file; echo trained"),
                List.of("threads"),
                List.of("runs"),
                List.of("task", "ls"),
                List.of("ls", THREAD),
                List.of("cat", THREAD + ":file"),
                List.of("cp", THREAD + ":file", "-"),
                List.of("ls", THREAD, "--json"),
                List.of("ls", "no-such-thread"),
                List.of("snapshot", "ls", THREAD),
                List.of("keys", "list"),
                List.of("health"),
                List.of("version", "--json"),
                List.of("exec", "--help"),
                List.of("no-such-command"));
    }
}
