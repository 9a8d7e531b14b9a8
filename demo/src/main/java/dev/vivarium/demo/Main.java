package dev.vivarium.demo;

import dev.vivarium.cli.EnvironmentClient;
import dev.vivarium.demo.Demo.Agent;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.RemoteClient;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.logging.LogManager;

/// Entry point of `viv demo`: a whole run in the terminal, without a key or a network. Stateless.
///
/// It removes everything that it creates, except with `--keep`.
public final class Main {
    private static final int FAILED = 1;
    private static final int MISUSED = 2;
    private static final List<String> NEXT = List.of(
            "",
            "The demo has removed its server, its sandbox and its agent. With a real model:",
            "  viv image build worker              download the agent SDKs, once",
            "  ANTHROPIC_API_KEY=… viv serve       the key does not enter a sandbox",
            "  viv run \"Make the tests pass\" --budget 2");

    private Main() {}

    public static void main(String[] arguments) throws IOException {
        System.exit(run(List.of(arguments), System.getenv(), System.out));
    }

    static int run(List<String> arguments, Map<String, String> env, PrintStream out) throws IOException {
        if (arguments.equals(List.of("demo", "--keep"))) {
            return keep(env, out);
        }
        if (!List.of(List.of("demo"), List.of("demo", "--plain")).contains(arguments)) {
            out.println("usage: viv demo [--plain | --keep]\n"
                    + "Shows a complete run of an agent with a scripted model, without a key or a network. The agent is"
                    + " Claude\n"
                    + "if the home has the image worker. Otherwise, or with --plain, it is a small Python program. With"
                    + " --keep,\n"
                    + "the run is on the running server, and its console shows it.");
            return arguments.contains("--help") || arguments.contains("-h") ? 0 : MISUSED;
        }
        // The demo does not show the server's log.
        LogManager.getLogManager().reset();
        Optional<Path> image =
                arguments.contains("--plain") || !DemoServer.isRoot() ? Optional.empty() : Demo.image(home(env));
        out.println(
                image.isPresent()
                        ? "Claude with a scripted model. No key, no network."
                        : "A small Python agent with a scripted model. No key, no network.");
        if (!DemoServer.isRoot()) {
            out.println("Without root, the sandbox is a plain process without isolation.");
        }
        out.println();
        return play(image, env, out);
    }

    private static int play(Optional<Path> image, Map<String, String> env, PrintStream out) {
        try (var server = DemoServer.start(Demo.script(), image)) {
            // Cleans up after Ctrl-C too.
            var cleaning = new Thread(server::close, "clean-up");
            Runtime.getRuntime().addShutdownHook(cleaning);
            var client = RemoteClient.of(server.uri(), server.key());
            var demo = new Demo(client, out, isColoured(env), image.isPresent() ? Agent.CLAUDE : Agent.PYTHON);
            boolean completed = demo.play(demo.start());
            server.close();
            Runtime.getRuntime().removeShutdownHook(cleaning);
            NEXT.forEach(out::println);
            return completed ? 0 : FAILED;
        } catch (SandboxException e) {
            out.println("viv: " + e.failure().sentence());
            return FAILED;
        }
    }

    /// Runs the demo on the running server and leaves its sandbox and its events there.
    private static int keep(Map<String, String> env, PrintStream out) {
        try {
            RemoteClient client = EnvironmentClient.of(env);
            out.println("A small Python agent on " + client.server() + ", without a model.\n");
            var demo = new Demo(client, out, isColoured(env), Agent.REPLAY);
            String sandbox = demo.start();
            boolean completed = demo.play(sandbox);
            out.println("\nThe console shows the run. This link signs you in, once, within five minutes:");
            out.println("  " + client.signInLink("/console/sandboxes/" + sandbox));
            return completed ? 0 : FAILED;
        } catch (SandboxException e) {
            out.println("viv: " + e.failure().sentence());
            if (e.failure() instanceof Failure.ServerUnreachable) {
                out.println("  viv serve starts a server; VIV_SERVER selects another one");
            }
            return FAILED;
        }
    }

    private static boolean isColoured(Map<String, String> env) {
        return System.console() != null && env.getOrDefault("NO_COLOR", "").isEmpty();
    }

    /// Returns the home of this machine's server, which contains its images.
    private static Path home(Map<String, String> env) {
        String home = env.get("VIV_HOME");
        return home == null ? Path.of(System.getProperty("user.home"), ".vivarium") : Path.of(home);
    }
}
