package dev.vivarium.core.shell;

import dev.vivarium.core.exec.CommandListener;
import dev.vivarium.core.exec.Execution;
import dev.vivarium.core.guest.Guest;
import dev.vivarium.core.guest.ProcessHandover;
import dev.vivarium.core.guest.Service;
import dev.vivarium.core.guest.SurvivingProcess;
import dev.vivarium.model.Command;
import dev.vivarium.model.CommandFailure;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.ShellId;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.random.RandomGenerator;

/// Shells of one sandbox, by id. Thread-safe.
///
/// Some exited shells are kept, so that a late client can still read their exit status.
public final class Shells {
    /// Number of exited shells to keep.
    private static final int ENDED = 4;

    private static final Duration FOR_SLOW_VIEWERS = Duration.ofSeconds(1);
    private static final String TERM = "xterm-256color";

    private final Map<ShellId, Shell> shells = new ConcurrentHashMap<>();
    private final RandomGenerator random;
    private final InstantSource clock;
    private final CommandListener commandListener;
    private final Duration timeout;
    private final ProcessHandover handover = new ProcessHandover();

    public Shells(RandomGenerator random, InstantSource clock, CommandListener commandListener) {
        this(random, clock, commandListener, FOR_SLOW_VIEWERS);
    }

    /// @param timeout maximum wait of processes for viewers that are slower than the fastest
    Shells(RandomGenerator random, InstantSource clock, CommandListener commandListener, Duration timeout) {
        this.random = random;
        this.clock = clock;
        this.commandListener = commandListener;
        this.timeout = timeout;
    }

    public Shell open(Guest guest, Command command, TerminalSize size) {
        var id = ShellId.random(random);
        var origin = new Shell.Origin(Optional.of(String.join(" ", command.argv())), clock.instant());
        var terminal =
                Execution.startOnKeptTerminal(guest, interactive(command), id.value(), size.columns(), size.rows());
        var shell = new Shell(id, origin, guest, size, commandListener, timeout);
        forgetOld();
        shells.put(id, shell);
        shell.begin(terminal);
        return shell;
    }

    /// Returns a command that reads its input from the terminal and has `TERM`. The output limit does not apply.
    static Command interactive(Command command) {
        var env = new HashMap<>(command.env());
        env.putIfAbsent("TERM", TERM);
        return command.withEnv(env).withInput(Command.Input.STREAM).withOutputLimit(Command.UNLIMITED);
    }

    /// Returns the shell with this id. Fails with the problem `no-such-shell`.
    public Shell require(ShellId id) {
        handover.await();
        Shell shell = shells.get(id);
        if (shell == null) {
            throw new SandboxException(noSuchShell(id));
        }
        return shell;
    }

    /// Returns all shells, newest last, including the kept exited ones.
    public List<Shell> list() {
        handover.await();
        return shells.values().stream()
                .sorted(Comparator.comparing(Shell::started)
                        .thenComparing(shell -> shell.id().value()))
                .toList();
    }

    /// Returns the newest running shell.
    public Optional<Shell> newest() {
        return list().reversed().stream().filter(Shell::isOpen).findFirst();
    }

    public static boolean isShell(SurvivingProcess survivor) {
        return survivor.service() == Service.PTY
                && survivor.name().filter(ShellId::isWellFormed).isPresent();
    }

    /// Announces [#reattachTo]. Until it completes, lookups wait.
    public void expectReattach() {
        handover.expect();
    }

    /// Finds the shells again on another guest.
    public void reattachTo(Guest guest) {
        Map<ShellId, SurvivingProcess> kept = new HashMap<>();
        for (SurvivingProcess survivor : guest.survivors()) {
            if (isShell(survivor)) {
                kept.put(new ShellId(survivor.name().orElseThrow()), survivor);
            }
        }
        for (Shell shell : shells.values()) {
            shell.reattached(guest, Optional.ofNullable(kept.remove(shell.id())));
        }
        kept.forEach((id, survivor) -> adopt(guest, id, survivor));
        handover.done();
    }

    private void adopt(Guest guest, ShellId id, SurvivingProcess survivor) {
        var shell = new Shell(
                id,
                new Shell.Origin(Optional.empty(), survivor.started()),
                guest,
                TerminalSize.USUAL,
                commandListener,
                timeout);
        shells.put(id, shell);
        shell.begin(survivor);
    }

    private void forgetOld() {
        List<Shell> ended = list().stream().filter(shell -> !shell.isOpen()).toList();
        for (Shell shell : ended.subList(0, Math.max(0, ended.size() - ENDED))) {
            shells.remove(shell.id());
        }
    }

    static Failure noSuchShell(ShellId id) {
        return new CommandFailure.NoSuchShell("there is no shell " + id + " in this sandbox");
    }
}
