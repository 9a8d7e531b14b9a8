package dev.vivarium.server;

import dev.vivarium.core.access.SignInCodes;
import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.sandbox.Adoption;
import dev.vivarium.core.store.HomeLock;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.policy.CommandPolicy;
import dev.vivarium.server.http.Descriptors;
import dev.vivarium.server.settings.Config;
import dev.vivarium.server.settings.Settings;
import dev.vivarium.server.settings.Usage;
import dev.vivarium.server.telemetry.Logs;
import java.io.Console;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import sun.misc.Signal;

/// Entry point of `viv serve`, `viv image` and `viv purge`. `viv serve` prints the address to standard output when
/// ready. Stateless.
public final class Main {
    private static final int FAILED = 1;
    private static final int MISUSED = 2;
    private static final int KILLED = 143;

    /// File in the home with the address of the running server.
    private static final String ADDRESS = "address";

    private Main() {}

    public static void main(String[] arguments) {
        FatalErrors.install();
        var rest = Arrays.asList(arguments).subList(Math.min(1, arguments.length), arguments.length);
        try {
            switch (arguments.length == 0 ? "" : arguments[0]) {
                case "serve" -> serve(rest);
                case "image" -> image(rest);
                case "purge" -> purge(rest);
                default ->
                    exit(
                            MISUSED,
                            "usage: viv serve [--port 8000] [--host 127.0.0.1] [--home DIR] [--adopt] …\n"
                                    + "       viv image build [worker] | import NAME SOURCE | list | remove NAME\n"
                                    + "       viv purge [--yes] [--home DIR]");
            }
        } catch (SandboxException e) {
            exit(
                    e.failure() instanceof Failure.InvalidRequest ? MISUSED : FAILED,
                    e.failure().sentence());
        } catch (UncheckedIOException e) {
            exit(FAILED, e.getMessage() + ": " + e.getCause());
        }
    }

    private static void image(List<String> arguments) {
        if (asksForHelp(arguments)) {
            System.out.print(ImageCommand.HELP);
        } else {
            new ImageCommand(System.out::println).run(arguments);
        }
    }

    private static void purge(List<String> arguments) {
        if (asksForHelp(arguments)) {
            System.out.print(PurgeCommand.HELP);
        } else {
            new PurgeCommand(InstantSource.system(), System.out::println, terminal()).run(arguments, System.getenv());
        }
    }

    private static boolean asksForHelp(List<String> arguments) {
        return arguments.contains("--help") || arguments.contains("-h");
    }

    /// Question to the user, if standard input and output are a terminal.
    private static Optional<Predicate<String>> terminal() {
        return Optional.ofNullable(System.console()).filter(Console::isTerminal).map(console -> question -> {
            String answer = console.readLine("%s", question);
            return answer != null && Set.of("y", "yes").contains(answer.strip().toLowerCase(Locale.ROOT));
        });
    }

    private static void serve(List<String> arguments) {
        if (asksForHelp(arguments)) {
            System.out.print(Usage.help());
            return;
        }
        boolean adopt = Usage.hasAdopt(arguments);
        var settings = Settings.read(Usage.settings(arguments), System.getenv(), Path.of(""));
        var config = Config.of(settings);
        Logs.configure(config.log());
        var log = LoggerFactory.getLogger(Main.class);
        log.info("vivarium {} with {}", Version.current(), settings.chosen());
        log.info("at most {} open files", Descriptors.limit());
        Settings.withoutEffect(System.getenv()).forEach(log::warn);
        warn(log, config);
        var home = HomeLock.claim(config.home());
        var vivarium = start(config, home, adopt);
        writeAddress(log, config.home().resolve(ADDRESS), vivarium);
        stopOnSignal(log, home, vivarium, config);
        System.out.println("ready on " + vivarium.uri());
        printLink(vivarium);
        System.out.println(
                config.apiKey().isPresent()
                        ? "the admin key is the configured one"
                        : "the admin key is in " + config.home().resolve("credentials"));
    }

    /// Writes the address for commands on this machine. Without it, they use the default port.
    private static void writeAddress(Logger log, Path file, Vivarium vivarium) {
        try {
            Files.writeString(file, Vivarium.localAddress(vivarium.uri()) + "\n");
        } catch (IOException e) {
            log.warn("cannot write {}: {}", file, e.getMessage());
        }
    }

    /// Prints a link that opens the console. A journal keeps the output for other readers, so it gets no link.
    private static void printLink(Vivarium vivarium) {
        if (System.getenv("JOURNAL_STREAM") == null) {
            vivarium.adminLink()
                    .ifPresent(link -> System.out.println("console sign-in link (works once, within "
                            + SignInCodes.LIFETIME.toMinutes() + " minutes): " + link));
        }
    }

    /// If the start fails, restores a home that was absent or empty.
    private static Vivarium start(Config config, HomeLock home, boolean adopt) {
        try {
            var provider = Providers.open(config);
            if (adopt) {
                adopt(config, provider);
            }
            return Vivarium.start(config, provider);
        } catch (RuntimeException e) {
            try (home) {
                restore(config.home(), home.earlierState());
            } catch (UncheckedIOException suppressed) {
                e.addSuppressed(suppressed);
            }
            throw e;
        }
    }

    private static void adopt(Config config, Provider provider) {
        try (var db = Vivarium.store(config)) {
            new Adoption(
                            provider,
                            db,
                            InstantSource.system(),
                            config.engine().sandboxes().times().lifetime())
                    .run();
        } catch (RuntimeException e) {
            provider.close();
            throw e;
        }
    }

    /// Deletes a home that was absent, and the content of a home that was empty. A home with content keeps the new
    /// files, because the next start needs them.
    static void restore(Path home, HomeLock.EarlierState earlier) {
        try {
            if (earlier == HomeLock.EarlierState.ABSENT) {
                FileTrees.delete(home);
            } else if (earlier == HomeLock.EarlierState.EMPTY) {
                try (var entries = Files.newDirectoryStream(home)) {
                    for (var entry : entries) {
                        FileTrees.delete(entry);
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("deleting the new files in " + home, e);
        }
    }

    private static void warn(Logger log, Config config) {
        if (config.redisHost().isPresent()) {
            log.warn("redis-host is set, but this version keeps its state on one machine; it is not used");
        }
        var policy = config.calls().policy();
        if (policy.mode() == CommandPolicy.Mode.OPEN) {
            return;
        }
        var unbounded = policy.unboundedCommands();
        if (policy.allowedCommands().isEmpty()) {
            log.warn("the command policy refuses every command: allowed-commands is empty");
        } else if (!unbounded.isEmpty()) {
            log.warn("the command policy allows {}, which can run any program", String.join(", ", unbounded));
        }
    }

    /// The first signal stops the server gracefully, the second one at once. The thread that stops is not a daemon,
    /// so that the process does not exit before it has finished.
    private static void stopOnSignal(Logger log, HomeLock home, Vivarium vivarium, Config config) {
        var stopping = new AtomicBoolean();
        for (String name : List.of("TERM", "INT")) {
            Signal.handle(new Signal(name), signal -> {
                if (stopping.getAndSet(true)) {
                    Runtime.getRuntime().halt(KILLED);
                }
                Thread.ofPlatform().daemon(false).name("stop").start(() -> {
                    log.info(
                            "stopping: running requests have {} s",
                            config.http().stopGrace().toSeconds());
                    deleteAddress(config.home().resolve(ADDRESS));
                    vivarium.stop(config.http().stopGrace());
                    home.close();
                    log.info(
                            "stopped; sandboxes in use continue for {} s without a server",
                            config.engine().sandboxes().times().orphanGrace().toSeconds());
                    System.exit(0);
                });
            });
        }
    }

    private static void deleteAddress(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException _) {
            // The next server replaces it.
        }
    }

    private static void exit(int code, String why) {
        System.err.println("viv: " + why);
        System.exit(code);
    }
}
