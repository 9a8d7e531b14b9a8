package dev.vivarium.cli;

import picocli.CommandLine.Option;

/// How the answer is printed; every command that answers has these.
final class OutputOptions {
    @Option(names = "--json", description = "Print JSON, one object a line.")
    private boolean json;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Print this.")
    @SuppressWarnings("UnusedVariable") // Read by picocli.
    private boolean help;

    boolean isJson() {
        return json;
    }
}
