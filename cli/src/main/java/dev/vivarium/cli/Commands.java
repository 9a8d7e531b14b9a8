package dev.vivarium.cli;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.HelpCommand;

/// All commands of `viv`. To add one: 1. write a class in its own file, with `--json`; 2. add a line to [#all]; 3. add
/// a section to `docs/reference/cli.md`, which a test compares with this list.
final class Commands {
    /// Names that users of other tools expect.
    static final Map<String, String> ALIASES = Map.of("ps", "threads", "status", "health");

    /// Hints for commands of other tools that `viv` does not have.
    static final Map<String, String> INSTEAD = Map.of(
            "login",
            "set VIV_API_KEY, or write the key of a server to ~/.config/viv/config.toml; viv doctor checks it",
            "logout",
            "unset VIV_API_KEY, or remove the key from ~/.config/viv/config.toml",
            "attach",
            "viv shell THREAD --session ID attaches to a shell; viv shell THREAD --list lists them",
            "kill",
            "viv end THREAD ends a sandbox",
            "images",
            "viv image list lists the images of this machine");

    private final Terminal terminal;

    Commands(Terminal terminal) {
        this.terminal = terminal;
    }

    /// Builds only the requested command, because reading the annotations of all commands takes longer than most of
    /// them run. For an unknown name, builds all commands, for help and suggestions.
    ///
    /// @param subcommand the word after the command, or an empty text
    CommandLine line(String wanted, String subcommand) {
        var root = new CommandLine(new Viv());
        Map<String, Supplier<CommandLine>> all = all(subcommand);
        var chosen = all.get(wanted);
        if (chosen == null) {
            all.forEach((name, command) -> root.addSubcommand(name, command.get()));
            root.addSubcommand("help", new HelpCommand());
        } else {
            root.addSubcommand(wanted, chosen.get());
        }
        root.registerConverter(Duration.class, new Times());
        root.registerConverter(FileLocation.class, FileLocation::of);
        root.setCaseInsensitiveEnumValuesAllowed(true);
        root.setAbbreviatedOptionsAllowed(false);
        return root;
    }

    private Map<String, Supplier<CommandLine>> all(String subcommand) {
        var commands = new LinkedHashMap<String, Supplier<CommandLine>>();
        commands.put("run", () -> new CommandLine(new RunCommand(terminal)));
        commands.put("runs", () -> new CommandLine(new RunsCommand(terminal)));
        commands.put("events", () -> new CommandLine(new EventsCommand(terminal)));
        commands.put("say", () -> new CommandLine(new SayCommand(terminal)));
        commands.put("review", () -> new CommandLine(new ReviewCommand(terminal)));
        commands.put("stop", () -> new CommandLine(new StopCommand(terminal)));
        commands.put("task", () -> task(subcommand));
        commands.put("git", () -> git(subcommand));
        commands.put("alerts", () -> new CommandLine(new AlertsCommand(terminal)));
        commands.put("webhook", () -> webhook(subcommand));
        commands.put("shell", () -> new CommandLine(new ShellCommand(terminal)));
        commands.put("exec", () -> new CommandLine(new ExecCommand(terminal)));
        commands.put("ls", () -> new CommandLine(new LsCommand(terminal)));
        commands.put("cat", () -> new CommandLine(new CatCommand(terminal)));
        commands.put("cp", () -> new CommandLine(new CpCommand(terminal)));
        commands.put("rm", () -> new CommandLine(new RmCommand(terminal)));
        commands.put("sync", () -> new CommandLine(new SyncCommand(terminal)));
        commands.put("threads", () -> new CommandLine(new ThreadsCommand(terminal)));
        commands.put("share", () -> new CommandLine(new ShareCommand(terminal)));
        commands.put("token", () -> new CommandLine(new TokenCommand(terminal)));
        commands.put("logs", () -> new CommandLine(new LogsCommand(terminal)));
        commands.put("open", () -> new CommandLine(new OpenCommand(terminal)));
        commands.put("preview", () -> new CommandLine(new PreviewCommand(terminal)));
        commands.put("pause", () -> new CommandLine(new StateCommand.Pause(terminal)));
        commands.put("resume", () -> new CommandLine(new StateCommand.Resume(terminal)));
        commands.put("egress", () -> new CommandLine(new EgressCommand(terminal)));
        commands.put("end", () -> new CommandLine(new EndCommand(terminal)));
        commands.put("snapshot", this::snapshot);
        commands.put("fork", () -> new CommandLine(new ForkCommand(terminal)));
        commands.put("keys", () -> keys(subcommand));
        commands.put("health", () -> new CommandLine(new HealthCommand(terminal)));
        commands.put("doctor", () -> new CommandLine(new DoctorCommand(terminal)));
        commands.put("completion", () -> new CommandLine(new CompletionCommand(terminal)));
        commands.put("version", () -> new CommandLine(new VersionCommand(terminal)));
        return commands;
    }

    private CommandLine snapshot() {
        return new CommandLine(new SnapshotCommand(terminal))
                .addSubcommand(new SnapshotCommand.Take(terminal))
                .addSubcommand(new SnapshotLsCommand(terminal))
                .addSubcommand(new SnapshotRmCommand(terminal))
                .addSubcommand(new SnapshotRestoreCommand(terminal));
    }

    private CommandLine task(String wanted) {
        var subs = new LinkedHashMap<String, Supplier<Object>>();
        subs.put("add", () -> new TaskAddCommand(terminal));
        subs.put("apply", () -> new TaskApplyCommand(terminal));
        subs.put("ls", () -> new TaskLsCommand(terminal));
        subs.put("show", () -> new TaskShowCommand(terminal));
        subs.put("graph", () -> new TaskGraphCommand(terminal));
        subs.put("cancel", () -> new TaskCancelCommand(terminal));
        subs.put("retry", () -> new TaskRetryCommand(terminal));
        return group(new TaskCommand(), subs, wanted);
    }

    private CommandLine git(String wanted) {
        var subs = new LinkedHashMap<String, Supplier<Object>>();
        subs.put("status", () -> new GitStatusCommand(terminal));
        subs.put("commit", () -> new GitCommitCommand(terminal));
        subs.put("push", () -> new GitPushCommand(terminal));
        subs.put("branches", () -> new GitBranchesCommand(terminal));
        subs.put("commits", () -> new GitCommitsCommand(terminal));
        subs.put("compare", () -> new GitCompareCommand(terminal));
        subs.put("pr", () -> pullRequests(""));
        subs.put("credential", () -> credentials(""));
        return group(new GitCommand(), subs, wanted);
    }

    private CommandLine pullRequests(String wanted) {
        var subs = new LinkedHashMap<String, Supplier<Object>>();
        subs.put("ls", () -> new GitPrLsCommand(terminal));
        subs.put("show", () -> new GitPrShowCommand(terminal));
        subs.put("open", () -> new GitPrOpenCommand(terminal));
        subs.put("merge", () -> new GitPrMergeCommand(terminal));
        return group(new GitPrCommand(), subs, wanted);
    }

    private CommandLine credentials(String wanted) {
        var subs = new LinkedHashMap<String, Supplier<Object>>();
        subs.put("add", () -> new GitCredentialAddCommand(terminal));
        subs.put("ls", () -> new GitCredentialLsCommand(terminal));
        subs.put("rm", () -> new GitCredentialRmCommand(terminal));
        return group(new GitCredentialCommand(), subs, wanted);
    }

    private CommandLine webhook(String wanted) {
        var subs = new LinkedHashMap<String, Supplier<Object>>();
        subs.put("add", () -> new WebhookAddCommand(terminal));
        subs.put("ls", () -> new WebhookLsCommand(terminal));
        subs.put("test", () -> new WebhookTestCommand(terminal));
        subs.put("rm", () -> new WebhookRmCommand(terminal));
        subs.put("deliveries", () -> new WebhookDeliveriesCommand(terminal));
        subs.put("replay", () -> new WebhookReplayCommand(terminal));
        return group(new WebhookCommand(), subs, wanted);
    }

    private CommandLine keys(String wanted) {
        var subs = new LinkedHashMap<String, Supplier<Object>>();
        subs.put("issue", () -> new KeysIssueCommand(terminal));
        subs.put("list", () -> new KeysListCommand(terminal));
        subs.put("revoke", () -> new KeysRevokeCommand(terminal));
        return group(new KeysCommand(), subs, wanted);
    }

    /// Builds only the requested subcommand, or all of them for an unknown name.
    private static CommandLine group(Object parent, Map<String, Supplier<Object>> subs, String wanted) {
        var group = new CommandLine(parent);
        var chosen = subs.get(wanted);
        if (chosen == null) {
            subs.forEach((name, command) -> group.addSubcommand(name, command.get()));
        } else {
            group.addSubcommand(wanted, chosen.get());
        }
        return group;
    }
}
