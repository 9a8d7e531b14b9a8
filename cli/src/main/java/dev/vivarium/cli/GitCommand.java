package dev.vivarium.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
        name = "git",
        description = "Repositories of runs: credentials, branches, commits and pull requests.",
        synopsisSubcommandLabel = "status|commit|push|branches|commits|compare|pr|credential",
        footer = {
            "",
            "  viv git credential add forge git.example.com < token",
            "  viv git status RUN                   the branch of a run and its delivery",
            "  viv git pr ls --run RUN",
            "  viv git pr merge 7 --url https://git.example.com/team/shop --credential forge"
        })
final class GitCommand implements Runnable {
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
        throw new ParameterException(
                spec.commandLine(),
                "a subcommand is missing: status, commit, push, branches, commits, compare, pr or credential");
    }
}
