package dev.vivarium.cli;

import dev.vivarium.sdk.Git;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(name = "status", description = "Show the repository of a run and the state of its delivery.")
final class GitStatusCommand implements Callable<Integer> {
    private static final int LABEL = 8;

    @Mixin
    private final Invocation viv;

    @Parameters(index = "0", paramLabel = "RUN", description = "Id of the run.")
    private String run = "";

    GitStatusCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        Git.RunRepository work = viv.client().git().ofRun(run);
        if (viv.isJson()) {
            viv.printJson(work.json());
            return 0;
        }
        line("url", work.url());
        work.base().ifPresent(base -> line("base", base));
        line("branch", work.branch());
        line("status", work.status() + work.error().map(why -> ": " + why).orElse(""));
        work.commit().ifPresent(commit -> line("commit", commit));
        work.pullRequest().ifPresent(address -> line("pull", address));
        return 0;
    }

    private void line(String label, String text) {
        viv.print(label + " ".repeat(LABEL - label.length()) + text);
    }
}
