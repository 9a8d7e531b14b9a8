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

@Command(
        name = "sync",
        description = "Synchronize a directory with the sandbox of a thread.",
        footer = {
            "",
            "  viv sync t1 .                  both directions, once",
            "  viv sync t1 . --watch          both directions, until Ctrl-C",
            "  viv sync t1 . --push           change only the sandbox; delete files only with --delete",
            "If a file changed on both sides, viv keeps both versions and stores the remote one as",
            "name.remote-HASH.ext. Remove that copy to resolve the conflict. Returns 6 while conflicts exist.",
            "Ignores patterns of .gitignore and .vivignore in DIR, and .git, node_modules and similar directories."
        })
final class SyncCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Option(names = "--push", description = "Change only the sandbox.")
    private boolean push;

    @Option(names = "--pull", description = "Change only the directory.")
    private boolean pull;

    @Option(names = "--delete", description = "With --push or --pull: also delete files.")
    private boolean delete;

    @Option(names = "--prefer", paramLabel = "SIDE", description = "local or remote: version to keep in a conflict.")
    private Plan.Prefer prefer = Plan.Prefer.NEITHER;

    @Option(
            names = {"-n", "--dry-run"},
            description = "Print the plan without executing it.")
    private boolean dry;

    @Option(names = "--watch", description = "Continue until Ctrl-C.")
    private boolean watch;

    @Option(names = "--interval", paramLabel = "TIME", description = "Interval of --watch (2s).")
    private Duration interval = Duration.ofSeconds(2);

    @Option(names = "--no-gitignore", description = "Ignore .gitignore.")
    private boolean noGitignore;

    @Parameters(index = "0", paramLabel = "THREAD", description = "Thread of the sandbox.")
    private String thread = "";

    @Parameters(index = "1", paramLabel = "DIR", description = "Local directory.")
    private Path directory = Path.of(".");

    SyncCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        try {
            if (push && pull) {
                throw new SandboxException(new Failure.InvalidRequest("--push and --pull", "exclude each other"));
            }
            var told = new SyncReport(viv);
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

    /// Continues after restarts of the server, lost connections, and pauses and ends of the sandbox. Neither
    /// resumes nor creates a sandbox.
    private int watch(Pair first, SyncReport told) throws IOException, InterruptedException {
        Pair pair = first;
        viv.note("keeping " + pair.folder().root() + " and " + thread + " synchronized; Ctrl-C ends it");
        while (true) {
            try {
                if (told.isAvailable(state())) {
                    round(pair, told);
                }
            } catch (Side.Replaced _) {
                viv.note("the sandbox of " + thread + " is new; viv uploads the local files");
                pair = pair(pair.folder().root(), IfAbsent.FAIL);
            } catch (SandboxException e) {
                if (!isPassing(e.failure())) {
                    throw e;
                }
                told.isAvailable(e.failure().sentence());
            }
            Thread.sleep(interval);
        }
    }

    /// Returns the reason why the sandbox is not available, or nothing. Does not resume the sandbox.
    private String state() {
        String state = viv.client().threads().sandboxState(thread);
        return state.equals("paused") ? "the sandbox is paused" : "";
    }

    private static boolean isPassing(Failure failure) {
        return failure.owner() != Failure.Owner.CALLER
                || failure instanceof Failure.SandboxNotRunning
                || failure instanceof Failure.NoSandboxForThread
                || failure instanceof Failure.NoSuchSandbox
                || failure instanceof Failure.SandboxEnded;
    }

    /// Reads the ignore rules again in each round, because users edit them.
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

    /// Both sides and their last common state.
    private record Pair(Folder folder, Workspace workspace, Memory memory) {}

    private Pair pair(Path root, IfAbsent ifAbsent) throws IOException {
        var account = viv.account();
        var tokens = viv.tokens(account);
        tokens.get(thread, ifAbsent);
        // Later calls create no sandbox: its empty workspace would look as if all files were deleted.
        var workspace = new Workspace(SandboxConnection.open(tokens.source(thread, IfAbsent.FAIL)));
        String pair = account.server() + "\n" + workspace.sandbox() + "\n" + root;
        var name = UUID.nameUUIDFromBytes(pair.getBytes(StandardCharsets.UTF_8)) + ".json";
        var memory = Memory.load(
                Directories.state(viv.terminal().env()).resolve("sync").resolve(name));
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
