package dev.vivarium.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
        name = "webhook",
        description = "Send events to a receiver over HTTP.",
        synopsisSubcommandLabel = "add|ls|test|rm|deliveries|replay",
        footer = {
            "",
            "  viv webhook add https://hooks.example.com/vivarium --events task.failed,guardian.",
            "  viv webhook deliveries WEBHOOK_ID --status dead"
        })
final class WebhookCommand implements Runnable {
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
                spec.commandLine(), "a subcommand is missing: add, ls, test, rm, deliveries or replay");
    }
}
