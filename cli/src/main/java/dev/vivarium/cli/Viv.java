package dev.vivarium.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// Root command.
@Command(
        name = "viv",
        description = "Sandboxes for AI agents and their users.",
        synopsisSubcommandLabel = "COMMAND",
        versionProvider = Version.Provider.class,
        footer = {
            "",
            "On the server's machine:",
            "  serve  Start a server.",
            "  image  Prepare root file systems.",
            "  purge  Delete all sandboxes of a stopped server.",
            "  demo   Show a complete run, without a key or a network.",
            "",
            "viv ps is viv threads, viv status is viv health. --server and --json may precede the command.",
            "",
            "Returns 0 on success, 1 on failure, 2 for invalid arguments, 3 not found,",
            "4 no or invalid key, 5 permission denied, 6 conflict or wrong state, 8 server",
            "unreachable, 9 resource exhausted, 124 timeout, 125 viv failed in exec,",
            "130 interrupted; exec and shell otherwise return the code of the command."
        })
final class Viv implements Runnable {
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Print this.")
    @SuppressWarnings("UnusedVariable") // Read by picocli.
    private boolean help;

    @Option(
            names = {"-V", "--version"},
            versionHelp = true,
            description = "Print the version.")
    @SuppressWarnings("UnusedVariable") // Read by picocli.
    private boolean version;

    @Spec
    @SuppressWarnings("NullAway.Init") // Set by picocli.
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "a command is missing");
    }
}
