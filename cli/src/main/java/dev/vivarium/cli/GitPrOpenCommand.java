package dev.vivarium.cli;

import dev.vivarium.sdk.Git;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(name = "open", description = "Open a pull request and print its address.")
final class GitPrOpenCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Mixin
    private final RepositoryOptions repository = new RepositoryOptions();

    @Option(names = "--title", paramLabel = "TEXT", description = "Title (that of the task).")
    private @Nullable String title;

    @Option(names = "--body", paramLabel = "TEXT", description = "Description.")
    private @Nullable String body;

    @Option(names = "--head", paramLabel = "BRANCH", description = "Branch with the changes (that of the run).")
    private @Nullable String head;

    @Option(names = "--base", paramLabel = "BRANCH", description = "Base (that of the run, or the default branch).")
    private @Nullable String base;

    GitPrOpenCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        var request = new Git.NewPullRequest(
                Optional.ofNullable(title),
                Optional.ofNullable(body),
                Optional.ofNullable(head),
                Optional.ofNullable(base));
        Git.PullRequest opened = viv.client().git().openPull(repository.selection(), request);
        if (viv.isJson()) {
            viv.printJson(opened.json());
        } else {
            viv.print(opened.url());
        }
        return 0;
    }
}
