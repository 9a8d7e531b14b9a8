package dev.vivarium.cli;

import dev.vivarium.cli.TokenCache.IfAbsent;
import dev.vivarium.cli.tty.Ending;
import dev.vivarium.cli.tty.ParticipantNames;
import dev.vivarium.cli.tty.ShellClient;
import dev.vivarium.cli.tty.ShellClient.ShellRequest;
import dev.vivarium.cli.tty.Tty;
import dev.vivarium.json.Json;
import dev.vivarium.model.CommandFailure;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.Shell;
import dev.vivarium.sdk.Shells.Participant;
import dev.vivarium.sdk.Shells.ShellInfo;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.core.JsonGenerator;

@Command(
        name = "shell",
        description = "Open a terminal in a thread's sandbox.",
        footer = {
            "",
            "At the beginning of a line:  ~.  end the shell    ~d  leave it running    ~?  help",
            "After a lost connection or a restart of the server, viv reconnects; the shell keeps running.",
            "  viv shell t1                   a new shell",
            "  viv shell t1 --observe         watch the newest one, without input",
            "  viv shell t1 --session ID      attach to a shell that was left with ~d",
            "  viv shell t1 -- htop           a program instead of bash"
        })
final class ShellCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Option(names = "--observe", description = "Only watch; the scope shell:ro is enough.")
    private boolean observe;

    @Option(names = "--session", paramLabel = "ID", description = "Existing shell.")
    private @Nullable String session;

    @Option(names = "--list", description = "List the open shells.")
    private boolean list;

    @Option(names = "--escape", paramLabel = "KEY", description = "~, or none to forward every key.")
    private String escape = "~";

    @Parameters(index = "0", paramLabel = "THREAD", description = "Thread of the sandbox.")
    private String thread = "";

    @Parameters(index = "1..*", arity = "0..*", paramLabel = "COMMAND", description = "Program instead of bash.")
    private List<String> words = List.of();

    ShellCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        if (list) {
            list(viv.connect(thread, IfAbsent.FAIL).shells().list());
            return 0;
        }
        requireTerminal(viv, "viv shell", thread);
        // Before the terminal changes its mode: the sandbox may have ended, and there may be no shell to observe.
        var present = viv.connect(thread, observe ? IfAbsent.FAIL : IfAbsent.CREATE)
                .shells()
                .list();
        var chosen = Optional.ofNullable(session).or(() -> observe ? Optional.of(newest(present)) : Optional.empty());
        var command = words.isEmpty()
                ? Optional.<String>empty()
                : Optional.of(words.size() == 1 ? words.getFirst() : Shell.quote(words));
        return open(viv, thread, new ShellRequest(observe, escapes(), chosen, command));
    }

    /// Runs a command on a terminal, for `viv exec -t`.
    static int run(Invocation viv, String thread, String command) {
        requireTerminal(viv, "viv exec -t", thread);
        viv.connect(thread, IfAbsent.CREATE);
        return open(viv, thread, new ShellRequest(false, true, Optional.empty(), Optional.of(command)));
    }

    private static void requireTerminal(Invocation viv, String what, String thread) {
        if (!viv.terminal().ttys().in() || !viv.terminal().ttys().out()) {
            throw new SandboxException(new Failure.InvalidRequest(
                    what, "needs a terminal; without one, viv exec " + thread + " -- COMMAND"));
        }
    }

    private boolean escapes() {
        return switch (escape) {
            case "~" -> true;
            case "none" -> false;
            default -> throw new SandboxException(new Failure.InvalidRequest("--escape", "must be ~ or none"));
        };
    }

    private static int open(Invocation viv, String thread, ShellRequest request) {
        if (request.observe()) {
            viv.note("watching " + thread + "; ~. leaves");
        }
        Ending ending;
        try (Tty tty = Tty.open()
                .orElseThrow(() -> new SandboxException(
                        new Failure.InvalidRequest("viv shell", "needs a terminal on standard input")))) {
            var client = new ShellClient(viv.connect(thread, IfAbsent.FAIL), request, tty::size, viv.out());
            ending = client.run(new FileInputStream(FileDescriptor.in));
        }
        return switch (ending) {
            case Ending.Exited(int code) -> code;
            case Ending.Left(var id) -> {
                id.filter(_ -> !request.observe())
                        .ifPresent(
                                left -> viv.note("detached; to return:  viv shell " + thread + " --session " + left));
                yield 0;
            }
        };
    }

    private String newest(List<ShellInfo> shells) {
        var running = shells.stream().filter(ShellInfo::running).toList();
        if (running.isEmpty()) {
            throw new SandboxException(new CommandFailure.NoSuchShell(
                    "there is no shell in " + thread + " to watch; viv shell " + thread + " opens one"));
        }
        return running.getLast().id();
    }

    private void list(List<ShellInfo> shells) {
        var table = viv.table("SESSION", "STATE", "STARTED", "COMMAND", "PEOPLE");
        for (ShellInfo shell : shells) {
            if (viv.isJson()) {
                viv.json(out -> write(out, shell));
            } else {
                table.row(
                        shell.id(),
                        shell.exitCode().map(code -> "exited " + code).orElse("running"),
                        table.time(shell.startedAt()),
                        shell.command().orElse("-"),
                        ParticipantNames.names(shell.participants()));
            }
        }
        if (!viv.isJson()) {
            table.print();
        }
    }

    private static void write(JsonGenerator out, ShellInfo shell) {
        out.writeStringProperty("session_id", shell.id());
        shell.command().ifPresent(command -> out.writeStringProperty("command", command));
        Json.time(out, "started_at", shell.startedAt());
        out.writeBooleanProperty("running", shell.running());
        shell.exitCode().ifPresent(code -> out.writeNumberProperty("exit_code", code));
        out.writeArrayPropertyStart("people");
        for (Participant person : shell.participants()) {
            out.writeStartObject();
            out.writeStringProperty("user_id", person.user());
            out.writeStringProperty("role", person.role());
            out.writeEndObject();
        }
        out.writeEndArray();
    }
}
