package dev.vivarium.cli;

import dev.vivarium.sdk.Git;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// Stores a credential. No option takes the token, because every user of the machine can read arguments.
@Command(
        name = "add",
        description = "Store a credential for a git host. Reads the token from standard input.",
        footer = {"", "  viv git credential add forge git.example.com < token"})
final class GitCredentialAddCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Option(names = "--username", paramLabel = "NAME", description = "User name for git (x-access-token).")
    private @Nullable String username;

    @Option(
            names = "--forge",
            paramLabel = "API",
            description = "API of the host: github, gitea or none (github for github.com, else gitea).")
    private @Nullable String forge;

    @Parameters(index = "0", paramLabel = "NAME", description = "Name of the credential.")
    private String name = "";

    @Parameters(index = "1", paramLabel = "HOST", description = "Host, with its port if it is not the default.")
    private String host = "";

    GitCredentialAddCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        Git git = viv.client().git();
        String token = ServerOptions.firstLine(viv.terminal().in());
        Git.Credential saved = git.saveCredential(
                new Git.NewCredential(name, host, token, Optional.ofNullable(username), Optional.ofNullable(forge)));
        GitCredentialLsCommand.print(viv, List.of(saved));
        return 0;
    }
}
