package dev.vivarium.cli;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "commit", description = "Commit the changes in the clone of a run.")
final class GitCommitCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Option(
            names = {"-m", "--message"},
            required = true,
            paramLabel = "TEXT",
            description = "Message of the commit.")
    private String message = "";

    @Parameters(index = "0", paramLabel = "RUN", description = "Id of the run.")
    private String run = "";

    @Parameters(index = "1..*", paramLabel = "PATH", description = "Files and directories; all changes by default.")
    private List<String> paths = List.of();

    GitCommitCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        GitPushCommand.print(viv, viv.client().git().commit(run, message, paths));
        return 0;
    }
}
