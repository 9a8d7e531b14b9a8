package dev.vivarium.cli;

import dev.vivarium.sdk.Git;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "merge", description = "Merge a pull request.")
final class GitPrMergeCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Mixin
    private final RepositoryOptions repository = new RepositoryOptions();

    @Option(names = "--method", paramLabel = "METHOD", description = "merge, squash or rebase (merge).")
    private Git.Merge method = Git.Merge.MERGE;

    @Option(names = "--delete-branch", description = "Delete the branch after the merge.")
    private boolean deletesBranch;

    @Parameters(index = "0", paramLabel = "NUMBER", description = "Number of the pull request.")
    private long number;

    GitPrMergeCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        var merged = viv.client().git().mergePull(repository.selection(), number, method, deletesBranch);
        GitPrLsCommand.print(viv, List.of(merged));
        return 0;
    }
}
