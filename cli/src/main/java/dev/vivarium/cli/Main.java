package dev.vivarium.cli;

import dev.vivarium.model.SandboxException;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.HelpCommand;

/// Where `viv` begins.
///
/// To add a command: 1. a class in a file of its own, with `--json`; 2. a line in [#commands].
public final class Main {
    private final Terminal terminal;

    Main(Terminal terminal) {
        this.terminal = terminal;
    }

    public static void main(String[] args) {
        // The streams as they are: the JDK's own would guess an encoding and check for errors on every byte.
        var out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        var err = new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
        int code = new Main(new Terminal(System.in, out, err, System.getenv())).run(args);
        out.flush();
        System.exit(code);
    }

    int run(String... args) {
        CommandLine line = commandLine(args.length == 0 ? "" : args[0]);
        line.setOut(new PrintWriter(terminal.out(), true, StandardCharsets.UTF_8));
        line.setErr(new PrintWriter(terminal.err(), true, StandardCharsets.UTF_8));
        return line.execute(args);
    }

    /// Only the command that was asked for is built, because reading all their annotations takes longer than most
    /// of them run.
    CommandLine commandLine(String wanted) {
        var root = new CommandLine(new Viv());
        Map<String, Supplier<CommandLine>> commands = commands();
        var chosen = commands.get(wanted);
        if (chosen == null) {
            commands.forEach((name, command) -> root.addSubcommand(name, command.get()));
            root.addSubcommand("help", new HelpCommand());
        } else {
            root.addSubcommand(wanted, chosen.get());
        }
        root.registerConverter(Duration.class, new Times());
        root.registerConverter(Place.class, Place::of);
        root.setExecutionExceptionHandler((failure, command, _) -> complain(failure, command));
        root.setAbbreviatedOptionsAllowed(false);
        return root;
    }

    private Map<String, Supplier<CommandLine>> commands() {
        var commands = new LinkedHashMap<String, Supplier<CommandLine>>();
        commands.put("exec", () -> new CommandLine(new ExecCommand(terminal)));
        commands.put("ls", () -> new CommandLine(new LsCommand(terminal)));
        commands.put("cp", () -> new CommandLine(new CpCommand(terminal)));
        commands.put("keys", this::keys);
        commands.put("health", () -> new CommandLine(new HealthCommand(terminal)));
        commands.put("version", () -> new CommandLine(new VersionCommand(terminal)));
        return commands;
    }

    private CommandLine keys() {
        return new CommandLine(new KeysCommand())
                .addSubcommand(new KeysIssueCommand(terminal))
                .addSubcommand(new KeysListCommand(terminal))
                .addSubcommand(new KeysRevokeCommand(terminal));
    }

    private int complain(Exception failure, CommandLine command) throws Exception {
        return switch (failure) {
            case SandboxException e -> {
                Complaint.print(terminal, e.failure(), output(command));
                yield ExitCode.of(e.failure());
            }
            case UncheckedIOException e -> {
                terminal.err().println("viv: " + said(e));
                yield ExitCode.FAILURE;
            }
            default -> throw failure;
        };
    }

    private static String said(UncheckedIOException failure) {
        return failure.getCause() instanceof NoSuchFileException missing
                ? missing.getFile() + ": no such file"
                : String.valueOf(failure.getMessage());
    }

    private static OutputOptions output(CommandLine command) {
        for (Object mixin : command.getMixins().values()) {
            if (mixin instanceof OutputOptions output) {
                return output;
            }
        }
        return new OutputOptions();
    }
}
