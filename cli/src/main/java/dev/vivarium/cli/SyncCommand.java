package dev.vivarium.cli;

import dev.vivarium.cli.TokenCache.IfAbsent;
import dev.vivarium.cli.sync.Folder;
import dev.vivarium.cli.sync.Ignore;
import dev.vivarium.cli.sync.Memory;
import dev.vivarium.cli.sync.Plan;
import dev.vivarium.cli.sync.Side;
import dev.vivarium.cli.sync.Sync;
import dev.vivarium.cli.sync.Workspace;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.SandboxConnection;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// Makes a directory and a sandbox's workspace alike, once or for as long as one works.
@Command(
        name = "sync",
        description = "Keep a directory and a thread's sandbox alike.",
        footer = {
            "",
            "  viv sync t1 .                  both ways, once",
            "  viv sync t1 . --watch          both ways, until Ctrl-C",
            "  viv sync t1 . --push           only there; what was deleted here stays, without --delete",
            "A file that changed on both sides stays as it is on both, and what the other side has is put beside it as",
            "name.remote-HASH.ext; remove that copy when the file is as it should be. Returns 6 while there are some.",
            "What .gitignore and .vivignore in DIR name is left alone, and so are .git, node_modules and the like."
        })
final class SyncCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Option(names = "--push", description = "Change only the sandbox.")
    private boolean push;

    @Option(names = "--pull", description = "Change only the directory.")
    private boolean pull;

    @Option(names = "--delete", description = "With --push or --pull: carry deletes over too.")
    private boolean delete;

    @Option(names = "--prefer", paramLabel = "SIDE", description = "local or remote: who wins when both changed.")
    private Plan.Prefer prefer = Plan.Prefer.NEITHER;

    @Option(
            names = {"-n", "--dry-run"},
            description = "Only say what would be done.")
    private boolean dry;

    @Option(names = "--watch", description = "Go on, until Ctrl-C.")
    private boolean watch;

    @Option(names = "--interval", paramLabel = "TIME", description = "How often --watch looks (2s).")
    private Duration interval = Duration.ofSeconds(2);

    @Option(names = "--no-gitignore", description = "Heed .vivignore only.")
    private boolean noGitignore;

    @Parameters(index = "0", paramLabel = "THREAD", description = "The conversation whose sandbox it is.")
    private String thread = "";

    @Parameters(index = "1", paramLabel = "DIR", description = "The directory here.")
    private Path directory = Path.of(".");

    SyncCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        try {
            if (push && pull) {
                throw new SandboxException(new Failure.InvalidRequest("--push and --pull", "exclude each other"));
            }
            var told = new SyncReport(terminal, output);
            Pair pair = pair(root(), pull ? IfAbsent.FAIL : IfAbsent.CREATE);
            if (watch) {
                return watch(pair, told);
            }
            round(pair, told);
            return told.exitCode();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return ExitCode.INTERRUPTED;
        }
    }

    /// Goes on through everything that passes: a server that restarts, a network that is cut, a sandbox that is
    /// paused or has ended. It wakes and makes none: whoever does is followed.
    private int watch(Pair first, SyncReport told) throws IOException, InterruptedException {
        Pair pair = first;
        terminal.note("keeping " + pair.folder().root() + " and " + thread + " alike; Ctrl-C ends it");
        while (true) {
            try {
                if (told.isAtWork(state())) {
                    round(pair, told);
                }
            } catch (Side.Replaced _) {
                terminal.note("the sandbox of " + thread + " is a new one; the files here are put into it");
                pair = pair(pair.folder().root(), IfAbsent.FAIL);
            } catch (SandboxException e) {
                if (!isPassing(e.failure())) {
                    throw e;
                }
                told.isAtWork(e.failure().sentence());
            }
            Thread.sleep(interval);
        }
    }

    /// Asks without waking anybody. Empty if all is well.
    private String state() {
        String state = server.client(terminal).threads().sandboxState(thread);
        return state.equals("paused") ? "the sandbox is paused" : "";
    }

    private static boolean isPassing(Failure failure) {
        return failure.owner() != Failure.Owner.CALLER
                || failure instanceof Failure.SandboxNotRunning
                || failure instanceof Failure.NoSandboxForThread
                || failure instanceof Failure.NoSuchSandbox
                || failure instanceof Failure.SandboxEnded;
    }

    /// The rules are read anew each time: they are files that people edit while they work.
    private void round(Pair pair, SyncReport told) throws IOException {
        var sync = new Sync(
                pair.folder(),
                pair.workspace(),
                pair.memory(),
                ignore(pair.folder().root()),
                plan());
        told.begin();
        sync.run(dry ? Sync.Mode.DRY : Sync.Mode.APPLY, told);
    }

    private Path root() throws IOException {
        if (!Files.isDirectory(directory)) {
            throw new SandboxException(new Failure.InvalidRequest("DIR " + directory, "must be a directory"));
        }
        return directory.toRealPath();
    }

    /// Both sides and what they agreed on last.
    private record Pair(Folder folder, Workspace workspace, Memory memory) {}

    private Pair pair(Path root, IfAbsent ifAbsent) throws IOException {
        var account = server.account(terminal);
        var tokens = server.tokens(account, terminal);
        tokens.get(thread, ifAbsent);
        // Later calls create no sandbox: its empty workspace would look as if all files were deleted.
        var workspace = new Workspace(SandboxConnection.open(tokens.source(thread, IfAbsent.FAIL)));
        String pair = account.server() + "\n" + workspace.sandbox() + "\n" + root;
        var name = UUID.nameUUIDFromBytes(pair.getBytes(StandardCharsets.UTF_8)) + ".json";
        var memory =
                Memory.load(Directories.state(terminal.env()).resolve("sync").resolve(name));
        return new Pair(new Folder(root), workspace, memory);
    }

    private Plan plan() {
        var direction = push ? Plan.Direction.PUSH : pull ? Plan.Direction.PULL : Plan.Direction.BOTH;
        boolean carried = direction == Plan.Direction.BOTH || delete;
        return new Plan(direction, carried ? Plan.Deletes.CARRIED : Plan.Deletes.LEFT, prefer);
    }

    private Ignore ignore(Path root) throws IOException {
        var lines = new ArrayList<String>();
        for (String name : noGitignore ? List.of(".vivignore") : List.of(".gitignore", ".vivignore")) {
            Path file = root.resolve(name);
            if (Files.isRegularFile(file)) {
                lines.addAll(Files.readAllLines(file));
            }
        }
        return Ignore.of(lines);
    }
}
