package dev.vivarium.cli;

import dev.vivarium.sdk.Git;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(name = "commits", description = "List the newest commits of a branch.")
final class GitCommitsCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Mixin
    private final RepositoryOptions repository = new RepositoryOptions();

    @Option(names = "--branch", paramLabel = "BRANCH", description = "Branch (that of the run, or the default branch).")
    private @Nullable String branch;

    @Option(names = "--limit", paramLabel = "NUMBER", description = "Maximum number of commits (100).")
    private int limit = 100;

    GitCommitsCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        List<Git.Commit> commits =
                viv.client().git().commits(repository.selection(), Optional.ofNullable(branch), limit);
        print(viv, commits);
        return 0;
    }

    static void print(Invocation viv, List<Git.Commit> commits) {
        if (viv.isJson()) {
            commits.forEach(commit -> viv.printJson(commit.json()));
            return;
        }
        var table = viv.table("COMMIT", "AT", "AUTHOR", "MESSAGE");
        commits.forEach(commit -> table.row(
                commit.id(),
                commit.at().map(table::time).orElse("-"),
                commit.author(),
                commit.message().lines().findFirst().orElse("")));
        table.print();
    }
}
