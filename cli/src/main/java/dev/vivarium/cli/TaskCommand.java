package dev.vivarium.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
        name = "task",
        description = "Add tasks to the queue of the server, and follow them.",
        synopsisSubcommandLabel = "add|apply|ls|show|graph|cancel|retry",
        footer = {
            "",
            "  viv task add \"Fix the failing test\" --budget 2",
            "  viv task apply graph.yaml --dry-run        check a graph, and print the order of its tasks",
            "  viv task apply graph.yaml --wait           add it, and wait for the end",
            "  viv task ls --status failed",
            "  viv task graph TASK_ID                     the tasks that are connected with a task"
        })
final class TaskCommand implements Runnable {
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
                spec.commandLine(), "a subcommand is missing: add, apply, ls, show, graph, cancel or retry");
    }
}
