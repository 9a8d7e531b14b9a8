package dev.vivarium.cli;

import dev.vivarium.cli.remote.Passes.IfAbsent;
import dev.vivarium.cli.sync.Folder;
import dev.vivarium.cli.sync.Ignore;
import dev.vivarium.cli.sync.Memory;
import dev.vivarium.cli.sync.Plan;
import dev.vivarium.cli.sync.Sync;
import dev.vivarium.cli.sync.Sync.News;
import dev.vivarium.cli.sync.Workspace;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
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
            Path root = root();
            Sync sync = sync(root);
            var told = new HashSet<String>();
            while (true) {
                var round = new Round(told);
                sync.run(dry ? Sync.Mode.DRY : Sync.Mode.APPLY, round);
                if (!watch) {
                    return round.conflicts > 0 ? ExitCode.CONFLICT : 0;
                }
                Thread.sleep(interval);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return ExitCode.INTERRUPTED;
        }
    }

    private Path root() throws IOException {
        if (!Files.isDirectory(directory)) {
            throw new SandboxException(new Failure.InvalidRequest("DIR " + directory, "must be a directory"));
        }
        return directory.toRealPath();
    }

    private Sync sync(Path root) throws IOException {
        var account = server.account(terminal);
        var box = server.box(terminal, thread, pull ? IfAbsent.FAIL : IfAbsent.CREATE);
        // The sandbox's id is in the name: a new sandbox has nothing in common with the directory yet.
        String pair = account.server() + "\n" + box.current().sandbox() + "\n" + root;
        var name = UUID.nameUUIDFromBytes(pair.getBytes(StandardCharsets.UTF_8)) + ".json";
        var memory =
                Memory.load(Directories.state(terminal.env()).resolve("sync").resolve(name));
        var direction = push ? Plan.Direction.PUSH : pull ? Plan.Direction.PULL : Plan.Direction.BOTH;
        boolean carried = direction == Plan.Direction.BOTH || delete;
        var plan = new Plan(direction, carried ? Plan.Deletes.CARRIED : Plan.Deletes.LEFT, prefer);
        return new Sync(new Folder(root), new Workspace(box), memory, ignore(root), plan);
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

    /// Tells what a round does. What is skipped or in conflict is told once, however many rounds it stays so.
    private final class Round implements Consumer<News> {
        private final Set<String> told;
        private int conflicts;

        Round(Set<String> told) {
            this.told = told;
        }

        @Override
        public void accept(News news) {
            switch (news) {
                case News.Done(var change) -> {
                    told.remove(change.path());
                    tell(change.kind().toString(), change.path(), "");
                }
                case News.Conflict(String path, String copy) -> {
                    conflicts++;
                    once("conflict", path, "theirs is in " + copy);
                }
                case News.Skipped(String path, String why) -> once("skipped", path, why);
            }
        }

        private void once(String what, String path, String why) {
            if (told.add(what + path)) {
                tell(what, path, why);
            }
        }
    }

    private void tell(String what, String path, String why) {
        if (output.isJson()) {
            terminal.json(out -> {
                out.writeStringProperty("action", what);
                out.writeStringProperty("path", path);
                if (!why.isEmpty()) {
                    out.writeStringProperty("detail", why);
                }
            });
        } else {
            terminal.out().println(Table.shown(what + "  " + path + (why.isEmpty() ? "" : "  (" + why + ")")));
            terminal.out().flush();
        }
    }
}
