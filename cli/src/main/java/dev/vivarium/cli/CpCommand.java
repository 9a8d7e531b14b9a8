package dev.vivarium.cli;

import dev.vivarium.cli.TokenCache.IfAbsent;
import dev.vivarium.cli.sync.Names;
import dev.vivarium.model.Failure;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.Listing;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.SandboxFiles;
import dev.vivarium.sdk.SandboxFiles.OpenFile;
import dev.vivarium.sdk.SandboxFiles.WriteMode;
import dev.vivarium.sdk.http.Transport.Body;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "cp",
        description = "Copy a file or a directory to or from the sandbox of a thread.",
        footer = {
            "",
            "THREAD:PATH is in the sandbox, other paths are local; - is standard input or output.",
            "  viv cp data.csv t1:            viv cp t1:result.json .            viv cp t1:log.txt -",
            "  viv cp -r src t1:              viv cp -r t1:build .",
            "-r copies no links and no empty directories. viv sync keeps two directories equal."
        })
final class CpCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Option(
            names = {"-r", "-R", "--recursive"},
            description = "Copy a directory with its content.")
    private boolean recursive;

    @Parameters(index = "0", paramLabel = "FROM")
    private FileLocation from = FileLocation.of("-");

    @Parameters(index = "1", paramLabel = "TO")
    private FileLocation to = FileLocation.of("-");

    CpCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        try {
            switch (from) {
                case FileLocation.Local source when to instanceof FileLocation.Inside target -> upload(source, target);
                case FileLocation.Inside source
                when to instanceof FileLocation.Local target -> download(source, target);
                default ->
                    throw new SandboxException(
                            new Failure.InvalidRequest("cp", "needs exactly one argument of the form THREAD:PATH"));
            }
            return 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void upload(FileLocation.Local source, FileLocation.Inside target) throws IOException {
        if (!source.isStandard() && Files.isDirectory(Path.of(source.path()))) {
            uploadDirectory(Path.of(source.path()), target);
            return;
        }
        String name = source.isStandard() ? target.requirePath().path() : target.nameFor(source);
        long size = source.isStandard() ? -1 : Files.size(Path.of(source.path()));
        var files = viv.connect(target.thread(), IfAbsent.CREATE).files();
        boolean program = !source.isStandard() && Files.isExecutable(Path.of(source.path()));
        files.write(name, program ? WriteMode.EXECUTABLE : WriteMode.KEEP, () -> body(source, name, size));
        report(name, size);
    }

    private void uploadDirectory(Path source, FileLocation.Inside target) throws IOException {
        if (!recursive) {
            throw new SandboxException(new Failure.WrongFileType(source.toString(), "is a directory"));
        }
        String name = String.valueOf(source.toRealPath().getFileName());
        String top = target.nameFor(new FileLocation.Local(name)).replaceFirst("/+$", "");
        try (var files = Files.walk(source)) {
            for (Path file : (Iterable<Path>) files.sorted()::iterator) {
                if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
                    String inside = top + "/" + source.relativize(file);
                    upload(new FileLocation.Local(file.toString()), new FileLocation.Inside(target.thread(), inside));
                } else if (!Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
                    viv.note("skipped " + file + ", which is not a regular file");
                }
            }
        }
    }

    private Body body(FileLocation.Local source, String name, long size) {
        try {
            var bytes = source.isStandard() ? viv.terminal().in() : Files.newInputStream(Path.of(source.path()));
            return Body.of(new Progress(viv, bytes, name, size), size);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void download(FileLocation.Inside source, FileLocation.Local target) throws IOException {
        var files = viv.connect(source.thread(), IfAbsent.FAIL).files();
        String path = source.path().replaceFirst("/+$", "");
        if (recursive && (path.isEmpty() || !isFile(files, path))) {
            downloadDirectory(files, path, target);
        } else {
            downloadFile(files, source.requirePath().path(), target);
        }
    }

    private void downloadFile(SandboxFiles files, String path, FileLocation.Local target) throws IOException {
        try (OpenFile remote = files.open(path)) {
            long size = remote.size().orElse(-1);
            try (var bytes = new Progress(viv, remote.bytes(), path, size)) {
                if (target.isStandard()) {
                    viv.copy(bytes);
                } else {
                    Path file = save(bytes, name(path), Path.of(target.path()), remote.isExecutable());
                    report(file.toString(), Files.size(file));
                }
            }
        }
    }

    private static boolean isFile(SandboxFiles files, String path) {
        Optional<OpenFile> found = files.find(path);
        found.ifPresent(OpenFile::close);
        return found.isPresent();
    }

    /// The names in a listing come from the sandbox, so a name that leads out of the target is skipped.
    private void downloadDirectory(SandboxFiles files, String path, FileLocation.Local target) throws IOException {
        if (target.isStandard()) {
            throw new SandboxException(new Failure.InvalidRequest("TO", "must be a directory with -r"));
        }
        Listing listing = files.listRecursively(path);
        if (listing.truncated()) {
            throw new IOException(path + " has more files than can be listed");
        }
        Path given = Path.of(target.path());
        Path top = Files.isDirectory(given) ? given.resolve(name(path)) : given;
        Map<String, String> refused =
                Names.refused(listing.entries().stream().map(FileEntry::name).toList());
        for (FileEntry entry : listing.entries()) {
            if (refused.containsKey(entry.name())) {
                viv.note("skipped " + entry.name() + ", which " + refused.get(entry.name()));
            } else if (entry.type() == FileEntry.Type.FILE) {
                Path file = top.resolve(entry.name());
                Files.createDirectories(file.toAbsolutePath().resolveSibling("."));
                downloadFile(
                        files,
                        path.isEmpty() ? entry.name() : path + "/" + entry.name(),
                        new FileLocation.Local(file.toString()));
            } else if (entry.type() != FileEntry.Type.DIRECTORY) {
                viv.note("skipped " + entry.name() + ", which is not a regular file");
            }
        }
    }

    private static String name(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /// Replaces the target atomically. The target is executable if its source or the replaced file is.
    private static Path save(Progress bytes, String name, Path target, boolean program) throws IOException {
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
        if (viv.isJson()) {
            viv.json(out -> {
                out.writeStringProperty("name", name);
                out.writeNumberProperty("size_bytes", bytes);
            });
        }
    }
}
