package dev.vivarium.cli;

import dev.vivarium.sdk.Git;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(name = "rm", description = "Delete credentials for git hosts.")
final class GitCredentialRmCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Parameters(index = "0", arity = "1..*", paramLabel = "CREDENTIAL", description = "Names of the credentials.")
    private List<String> names = List.of();

    GitCredentialRmCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        Git git = viv.client().git();
        for (String name : names) {
            git.removeCredential(name);
            if (viv.isJson()) {
                viv.json(out -> {
                    out.writeStringProperty("name", name);
                    out.writeStringProperty("status", "deleted");
                });
            }
        }
        return 0;
    }
}
