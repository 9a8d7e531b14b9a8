package dev.vivarium.cli;

import dev.vivarium.sdk.Git;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(name = "ls", description = "List your credentials for git hosts.")
final class GitCredentialLsCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Option(
            names = {"-q", "--quiet"},
            description = "Only the names.")
    private boolean quiet;

    GitCredentialLsCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        List<Git.Credential> all = viv.client().git().credentials();
        if (quiet && !viv.isJson()) {
            all.forEach(credential -> viv.print(credential.name()));
        } else {
            print(viv, all);
        }
        return 0;
    }

    static void print(Invocation viv, List<Git.Credential> all) {
        if (viv.isJson()) {
            all.forEach(credential -> viv.printJson(credential.json()));
            return;
        }
        var table = viv.table("NAME", "HOST", "FORGE", "USERNAME", "CREATED");
        all.forEach(credential -> table.row(
                credential.name(),
                credential.host(),
                credential.forge(),
                credential.username(),
                table.time(credential.createdAt())));
        table.print();
    }
}
