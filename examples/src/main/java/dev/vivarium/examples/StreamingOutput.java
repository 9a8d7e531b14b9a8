package dev.vivarium.examples;

import dev.vivarium.model.ExecEvent;
import dev.vivarium.sdk.ExecOptions;
import dev.vivarium.sdk.Sandbox;
import dev.vivarium.sdk.SandboxClient;
import dev.vivarium.sdk.engine.Run;
import java.net.URI;
import java.time.Duration;

/// Streamed output, and a command that is stopped early. Arguments as for [Hello]. Stateless.
public final class StreamingOutput {
    private StreamingOutput() {}

    public static void main(String[] args) {
        try (SandboxClient client =
                args.length == 2 ? SandboxClient.remote(URI.create(args[0]), args[1]) : SandboxClient.local()) {
            Sandbox box = client.sandbox("alice", "streaming");
            var options =
                    ExecOptions.STANDARD.withTimeout(Duration.ofMinutes(5)).withIdleTimeout(Duration.ofSeconds(20));

            try (Run run = box.start("for i in 1 2 3; do echo step $i; sleep 0.1; done; exit 7", options)) {
                for (ExecEvent event : run) {
                    show(event);
                }
            }
            // Leaving the block early kills the command and all its child processes.
            try (Run run = box.start("yes", options)) {
                ExecEvent event = run.next();
                while (!(event instanceof ExecEvent.Output)) {
                    event = run.next();
                }
                System.out.println("seen enough");
            }
            box.end();
        }
    }

    private static void show(ExecEvent event) {
        switch (event) {
            case ExecEvent.Started _ -> System.out.println("started");
            case ExecEvent.Output output -> System.out.writeBytes(output.bytes());
            case ExecEvent.Exited exited ->
                System.out.println("exit code " + exited.exit().exitCode());
        }
    }
}
