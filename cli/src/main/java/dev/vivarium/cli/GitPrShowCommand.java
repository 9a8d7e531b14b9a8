package dev.vivarium.cli;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(name = "show", description = "Show a pull request.")
final class GitPrShowCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Mixin
    private final RepositoryOptions repository = new RepositoryOptions();

    @Parameters(index = "0", paramLabel = "NUMBER", description = "Number of the pull request.")
    private long number;

    GitPrShowCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        GitPrLsCommand.print(viv, List.of(viv.client().git().pull(repository.selection(), number)));
        return 0;
    }
}
