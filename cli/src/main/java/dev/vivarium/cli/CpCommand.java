package dev.vivarium.cli;

import dev.vivarium.cli.TokenCache.IfAbsent;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.SandboxFiles.OpenFile;
import dev.vivarium.sdk.SandboxFiles.WriteMode;
import dev.vivarium.sdk.http.Transport.Body;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/// `viv cp`: copies a file to or from the sandbox of a thread.
@Command(
        name = "cp",
        description = "Copy a file to or from the sandbox of a thread.",
        footer = {
            "",
            "THREAD:PATH is in the sandbox, other paths are local; - is standard input or output.",
            "  viv cp data.csv t1:            viv cp t1:result.json .            viv cp t1:log.txt -",
            "For directories, use viv sync."
        })
final class CpCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Parameters(index = "0", paramLabel = "FROM")
    private Place from = Place.of("-");

    @Parameters(index = "1", paramLabel = "TO")
    private Place to = Place.of("-");

    CpCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        try {
            switch (from) {
                case Place.Here source when to instanceof Place.Inside target -> upload(source, target);
                case Place.Inside source when to instanceof Place.Here target -> download(source, target);
                default ->
                    throw new SandboxException(
                            new Failure.InvalidRequest("cp", "needs exactly one argument of the form THREAD:PATH"));
            }
            return 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void upload(Place.Here source, Place.Inside target) throws IOException {
        if (!source.isStandard() && Files.isDirectory(Path.of(source.path()))) {
            throw new SandboxException(new Failure.WrongFileType(source.path(), "is a directory"));
        }
        String name = source.isStandard() ? target.requirePath().path() : target.nameFor(source);
        long size = source.isStandard() ? -1 : Files.size(Path.of(source.path()));
        var files = server.connect(terminal, target.thread(), IfAbsent.CREATE).files();
        boolean program = !source.isStandard() && Files.isExecutable(Path.of(source.path()));
        files.write(name, program ? WriteMode.EXECUTABLE : WriteMode.KEEP, () -> body(source, name, size));
        report(name, size);
    }

    private Body body(Place.Here source, String name, long size) {
        try {
            var bytes = source.isStandard() ? terminal.in() : Files.newInputStream(Path.of(source.path()));
            return Body.of(new Progress(terminal, output, bytes, name, size), size);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void download(Place.Inside source, Place.Here target) throws IOException {
        var files = server.connect(terminal, source.thread(), IfAbsent.FAIL).files();
        try (OpenFile remote = files.open(source.requirePath().path())) {
            long size = remote.size().orElse(-1);
            try (var bytes = new Progress(terminal, output, remote.bytes(), source.path(), size)) {
                if (target.isStandard()) {
                    bytes.transferTo(terminal.out());
                    terminal.out().flush();
                } else {
                    Path file = save(bytes, source, Path.of(target.path()), remote.isExecutable());
                    report(file.toString(), Files.size(file));
                }
            }
        }
    }

    /// Replaces the target atomically. The target is executable if its source or the replaced file is.
    private static Path save(Progress bytes, Place.Inside source, Path target, boolean program) throws IOException {
        String name = source.path().substring(source.path().lastIndexOf('/') + 1);
        Path file = Files.isDirectory(target) ? target.resolve(name) : target;
        Path fresh = file.toAbsolutePath().resolveSibling(".viv-" + UUID.randomUUID());
        try {
            Files.copy(bytes, fresh);
            Files.setPosixFilePermissions(fresh, permissions(Files.exists(file) ? file : fresh, program));
            Files.move(fresh, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(fresh);
        }
        return file;
    }

    private static Set<PosixFilePermission> permissions(Path model, boolean program) throws IOException {
        var permissions = Files.getPosixFilePermissions(model);
        if (program) {
            permissions.add(PosixFilePermission.OWNER_EXECUTE);
            if (permissions.contains(PosixFilePermission.GROUP_READ)) {
                permissions.add(PosixFilePermission.GROUP_EXECUTE);
            }
            if (permissions.contains(PosixFilePermission.OTHERS_READ)) {
                permissions.add(PosixFilePermission.OTHERS_EXECUTE);
            }
        }
        return permissions;
    }

    private void report(String name, long bytes) {
        if (output.isJson()) {
            terminal.json(out -> {
                out.writeStringProperty("name", name);
                out.writeNumberProperty("size_bytes", bytes);
            });
        }
    }
}
