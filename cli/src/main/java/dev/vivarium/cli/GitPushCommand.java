package dev.vivarium.cli;

import dev.vivarium.sdk.Git;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(name = "push", description = "Push the commits of a run to its branch.")
final class GitPushCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Parameters(index = "0", paramLabel = "RUN", description = "Id of the run.")
    private String run = "";

    GitPushCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        print(viv, viv.client().git().push(run));
        return 0;
    }

    /// Prints the branch and its newest commit.
    static void print(Invocation viv, Git.BranchHead head) {
        if (viv.isJson()) {
            viv.printJson(head.json());
        } else {
            viv.print(head.branch() + "  " + head.commit().orElse("nothing to push"));
        }
    }
}
