package dev.vivarium.core.sandbox;

import static org.awaitility.Awaitility.await;

import dev.vivarium.core.Scheduler;
import dev.vivarium.core.provider.GuestPrograms;
import dev.vivarium.core.provider.process.ProcessProvider;
import dev.vivarium.core.store.Db;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;

/// Server in its own process, which a test kills without warning. It has one sandbox with a file and a background
/// process, and one machine in the pool.
record KilledServer(Process process, SandboxId id, String backgroundPid) implements AutoCloseable {
    static KilledServer start(Path home) {
        try {
            Process process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "--enable-native-access=ALL-UNNAMED",
                            "-XX:TieredStopAtLevel=1",
                            // A killed process leaves its temporary files. They are deleted with the home directory.
                            "-Djava.io.tmpdir=" + home,
                            "-cp",
                            System.getProperty("java.class.path"),
                            KilledServer.class.getName(),
                            home.toString())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            var lines = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
            return new KilledServer(process, new SandboxId(lines.readLine()), lines.readLine());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void kill() {
        process.destroyForcibly().onExit().join();
    }

    @Override
    public void close() {
        kill();
    }

    public static void main(String[] arguments) throws Exception {
        Path home = Path.of(arguments[0]);
        var provider = ProcessProvider.open(home, GuestPrograms.extractTo(home));
        var sandboxes = Sandboxes.open(
                provider,
                Db.sqlite(home.resolve("viv.db")),
                TestEngine.plain().withPoolSize(1),
                List.of(),
                new Scheduler(InstantSource.system()));
        await().until(() -> sandboxes.pool().available() == 1);
        Sandbox sandbox = sandboxes
                .open(NewSandbox.of(TestEngine.ANN, new ThreadId("t1")))
                .sandbox();
        String pid = TestEngine.output(sandbox, "echo kept > file; setsid sleep 1000 >/dev/null 2>&1 & echo $!");
        await().until(() -> sandboxes.pool().available() == 1);
        System.out.println(sandbox.id() + "\n" + pid);
        // Exits with its parent if the parent is killed first.
        Runtime.getRuntime().halt(System.in.read());
    }
}
