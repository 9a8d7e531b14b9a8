package dev.vivarium.cli;

import dev.vivarium.model.SandboxException;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/// Entry point of `viv`. [Commands] lists the commands.
public final class Main {
    /// Usage examples for `viv` without arguments.
    private static final List<String> FIRST_STEPS = List.of(
            "  viv demo                          show a complete run of an agent, without a key or a network",
            "  viv serve                         start a server",
            "  viv exec my-thread -- uname -a    run a command in the sandbox of a thread",
            "  viv shell my-thread               open a terminal in it",
            "  viv sync my-thread DIR --watch    synchronize a directory with its workspace",
            "  viv doctor                        check the connection to the server, the key and this machine");

    private final Terminal terminal;

    Main(Terminal terminal) {
        this.terminal = terminal;
    }

    public static void main(String[] args) throws IOException {
        if (args.length == 1 && args[0].equals("--version")) {
            // Handled before other classes are loaded. The launcher handles it itself.
            new FileOutputStream(FileDescriptor.out)
                    .write(("viv " + Version.current() + "\n").getBytes(StandardCharsets.UTF_8));
            Runtime.getRuntime().halt(0);
        }
        // Plain streams: those of the JDK guess an encoding and check for errors on every byte.
        var out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        var err = new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
        var terminal = new Terminal(System.in, out, err, System.getenv(), Terminal.Ttys.found());
        int code = new Main(terminal).run(args);
        out.flush();
        err.flush();
        // All resources are closed, and exit() would load a logger first.
        Runtime.getRuntime().halt(code);
    }

    int run(String... args) {
        var arguments = Arguments.of(args);
        CommandLine line = commandLine(arguments.command(), arguments.subcommand());
        line.setOut(new PrintWriter(terminal.out(), true, StandardCharsets.UTF_8));
        line.setErr(new PrintWriter(terminal.err(), true, StandardCharsets.UTF_8));
        return line.execute(arguments.words(line));
    }

    CommandLine commandLine(String wanted, String subcommand) {
        CommandLine root = new Commands(terminal).line(wanted, subcommand);
        root.setExecutionExceptionHandler((failure, command, _) -> printError(failure, output(command)));
        root.setParameterExceptionHandler(this::misused);
        return root;
    }

    private int misused(ParameterException failure, String[] args) {
        CommandLine command = failure.getCommandLine();
        String name = command.getCommandSpec().qualifiedName();
        String instead = args.length == 0 ? null : Commands.INSTEAD.get(args[0]);
        boolean isUnknownCommand = failure instanceof UnmatchedArgumentException && command.getParent() == null;
        String message = isUnknownCommand ? "viv has no command " + args[0] : String.valueOf(failure.getMessage());
        var error = instead == null
                ? ErrorMessage.usage(message, name)
                : new ErrorMessage("usage", "viv has no command " + args[0], Optional.of(instead), false);
        if (Arrays.asList(args).contains("--json")) {
            error.printJson(terminal);
        } else {
            error.print(terminal, new OutputOptions());
            if (args.length == 0) {
                FIRST_STEPS.forEach(terminal.err()::println);
            } else if (instead == null && failure instanceof UnmatchedArgumentException unmatched) {
                UnmatchedArgumentException.printSuggestions(unmatched, terminal.err());
            }
        }
        return ExitCode.USAGE;
    }

    private int printError(Exception failure, OutputOptions output) {
        switch (failure) {
            case SandboxException e -> {
                ErrorMessage.of(e.failure()).print(terminal, output);
                return ExitCode.of(e.failure());
            }
            case UncheckedIOException e -> {
                ErrorMessage.plain("io", messageOf(e)).print(terminal, output);
                return e.getCause() instanceof NoSuchFileException ? ExitCode.NOT_FOUND : ExitCode.FAILURE;
            }
            case CancellationException _ -> {
                return ExitCode.INTERRUPTED;
            }
            default -> {
                ErrorMessage.plain("bug", "internal error: " + failure).print(terminal, output);
                if (terminal.env().containsKey("VIV_DEBUG")) {
                    failure.printStackTrace(terminal.err());
                }
            }
        }
        return ExitCode.FAILURE;
    }

    private static String messageOf(UncheckedIOException failure) {
        return failure.getCause() instanceof NoSuchFileException missing
                ? missing.getFile() + ": no such file"
                : String.valueOf(failure.getMessage());
    }

    private static OutputOptions output(CommandLine command) {
        for (Object mixin : command.getMixins().values()) {
            if (mixin instanceof Invocation viv) {
                return viv.output();
            }
            if (mixin instanceof OutputOptions output) {
                return output;
            }
        }
        return new OutputOptions();
    }
}
