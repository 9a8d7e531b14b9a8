package dev.vivarium.cli;

import dev.vivarium.sdk.Git;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(name = "ls", description = "List pull requests.")
final class GitPrLsCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Mixin
    private final RepositoryOptions repository = new RepositoryOptions();

    @Option(names = "--state", paramLabel = "STATE", description = "open, closed or all (open).")
    private Git.PullState state = Git.PullState.OPEN;

    @Option(names = "--limit", paramLabel = "NUMBER", description = "Maximum number of pull requests (100).")
    private int limit = 100;

    GitPrLsCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        print(viv, viv.client().git().pulls(repository.selection(), state, limit));
        return 0;
    }

    static void print(Invocation viv, List<Git.PullRequest> pulls) {
        if (viv.isJson()) {
            pulls.forEach(pull -> viv.printJson(pull.json()));
            return;
        }
        var table = viv.table("NUMBER", "STATE", "HEAD", "BASE", "AUTHOR", "TITLE", "URL");
        pulls.forEach(pull -> table.row(
                Long.toString(pull.number()),
                pull.state(),
                pull.head(),
                pull.base(),
                pull.author(),
                pull.title(),
                pull.url()));
        table.print();
    }
}
