package dev.vivarium.examples;

import dev.vivarium.model.ExecResult;
import dev.vivarium.sdk.Sandbox;
import dev.vivarium.sdk.SandboxClient;
import java.net.URI;

/// First command in a sandbox. Arguments: the server's address and an API key. Without arguments, the sandbox runs in
/// this process. Stateless.
public final class Hello {
    private Hello() {}

    public static void main(String[] args) {
        try (SandboxClient client =
                args.length == 2 ? SandboxClient.remote(URI.create(args[0]), args[1]) : SandboxClient.local()) {
            Sandbox box = client.sandbox("alice", "hello");

            ExecResult result = box.execute("echo \"hello from $(uname -s)\" | tee greeting.txt");
            System.out.print(result.stdout());

            // The thread keeps its files between commands.
            System.out.print(box.execute("wc -w < greeting.txt").stdout());

            // A command that fails is a result, not an exception.
            ExecResult failed = box.execute("ls no-such-file");
            System.out.println(
                    "exit code " + failed.exitCode() + ": " + failed.stderr().strip());

            box.end();
        }
    }
}
