package dev.vivarium.cli;

import dev.vivarium.sdk.Git;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(name = "compare", description = "Show the commits and files of a branch that another branch does not have.")
final class GitCompareCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Mixin
    private final RepositoryOptions repository = new RepositoryOptions();

    @Option(names = "--base", paramLabel = "BRANCH", description = "Base (that of the run, or the default branch).")
    private @Nullable String base;

    @Option(names = "--head", paramLabel = "BRANCH", description = "Branch with the changes (that of the run).")
    private @Nullable String head;

    GitCompareCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        Git.Comparison difference = viv.client()
                .git()
                .compare(repository.selection(), Optional.ofNullable(base), Optional.ofNullable(head));
        if (viv.isJson()) {
            viv.printJson(difference.json());
            return 0;
        }
        viv.print(difference.head() + " is " + difference.ahead() + " commits ahead of " + difference.base());
        GitCommitsCommand.print(viv, difference.commits());
        difference.files().forEach(viv::print);
        return 0;
    }
}
