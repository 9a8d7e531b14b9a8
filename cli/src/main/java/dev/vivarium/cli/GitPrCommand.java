package dev.vivarium.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
        name = "pr",
        description = "Pull requests.",
        synopsisSubcommandLabel = "ls|show|open|merge",
        footer = {"", "  viv git pr ls --run RUN", "  viv git pr merge 7 --run RUN --delete-branch"})
final class GitPrCommand implements Runnable {
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Print this.")
    @SuppressWarnings("UnusedVariable") // Read by picocli.
    private boolean help;

    @Spec
    @SuppressWarnings("NullAway.Init") // Set by picocli.
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "a subcommand is missing: ls, show, open or merge");
    }
}
