package dev.vivarium.core.image;

import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Images of one server, by name. Thread-safe.
public final class Images {
    private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9._-]{0,63}");

    private final Path directory;
    private final HostImage host;

    private Images(Path directory) {
        this.directory = directory;
        this.host = new HostImage(directory);
    }

    public static Images open(Path home) {
        try {
            return new Images(FileTrees.make(home.toAbsolutePath().resolve("images"), "rwx------"));
        } catch (IOException e) {
            throw failed("open the images", e);
        }
    }

    /// Returns all images, `host` first.
    public List<Image> list() {
        var images = new ArrayList<>(List.of(require(HostImage.NAME)));
        try (var entries = Files.newDirectoryStream(
                directory, entry -> isName(entry.getFileName().toString()))) {
            for (var root : entries) {
                images.add(at(root));
            }
            return images;
        } catch (IOException e) {
            throw failed("list the images", e);
        }
    }

    private String names() {
        try (var entries = Files.list(directory)) {
            var others = entries.map(entry -> entry.getFileName().toString())
                    .filter(Images::isName)
                    .sorted();
            return Stream.concat(Stream.of(HostImage.NAME), others).collect(Collectors.joining(", "));
        } catch (IOException e) {
            throw failed("list the images", e);
        }
    }

    /// Returns the image with this name. Throws a failure that explains how to build or import it.
    public Image require(String name) {
        if (name.equals(HostImage.NAME)) {
            try {
                return host.current();
            } catch (IOException e) {
                throw failed("prepare the image host", e);
            }
        }
        var root = directory.resolve(requireName(name));
        if (!Files.isDirectory(root)) {
            throw SandboxException.invalid(
                    "image",
                    "'" + name + "' does not exist; there is " + names()
                            + ". viv image build creates debian and worker, viv image import creates others");
        }
        try {
            return at(root);
        } catch (IOException e) {
            throw failed("read the image " + name, e);
        }
    }

    /// Builds an image from Debian packages, with common tools of agents. Takes a minute or two and needs the
    /// network. Passes progress lines to `progress`.
    public Image build(String name, Consumer<String> progress) {
        return make(name, root -> {
            DebianImage.build(root, progress);
            Skeleton.requireNoLinks(root);
            Skeleton.complete(root);
        });
    }

    /// Builds the image [WorkerImage#NAME]: the agents' SDKs over `host`, from the registry in the configuration of
    /// pip. Atomic. Takes a few minutes and a gigabyte.
    public Image buildWorker(WorkerImage.Order order, Consumer<String> progress) {
        return make(WorkerImage.NAME, root -> new WorkerImage(root, progress).build(order));
    }

    /// Imports an image from a tar archive, a directory, an OCI image layout or the output of `docker save`.
    /// Atomic.
    public Image importFrom(String name, Path source, Consumer<String> progress) {
        return make(name, root -> {
            new Import(root, progress).from(source);
            Skeleton.requireNoLinks(root);
            Skeleton.complete(root);
        });
    }

    /// Removes an image. Machines that run on it lose their programs, so end them first. Fails if there is no such
    /// image.
    public void remove(String name) {
        var root = directory.resolve(requireName(name));
        if (!Files.isDirectory(root)) {
            throw SandboxException.invalid("image", "names no image: " + name);
        }
        try {
            // Renames the image first, so that a crash leaves no partial image.
            var gone = Files.createTempDirectory(directory, ".gone-");
            Files.move(root, gone.resolve("root"), StandardCopyOption.ATOMIC_MOVE);
            FileTrees.delete(gone);
        } catch (IOException e) {
            throw failed("remove the image " + name, e);
        }
    }

    private Image make(String name, Step step) {
        var target = directory.resolve(requireName(name));
        Failure.InvalidRequest.require(
                !Files.exists(target), "image", "'" + name + "' is there already; remove it first");
        try {
            var workbench = Files.createTempDirectory(directory, ".new-");
            try {
                var root = Skeleton.directory(workbench.resolve("root"));
                step.fill(root);
                Files.move(root, target, StandardCopyOption.ATOMIC_MOVE);
            } finally {
                FileTrees.delete(workbench);
            }
            return at(target);
        } catch (IOException e) {
            throw new SandboxException(new Failure.InvalidRequest("image", "cannot be made: " + e.getMessage()), e);
        }
    }

    /// Step that fills a new root.
    private interface Step {
        void fill(Path root) throws IOException;
    }

    private Image at(Path root) throws IOException {
        var name = root.getFileName().toString();
        return Layer.isAt(root) ? Layer.over(require(HostImage.NAME), name, root) : new Image(name, root, List.of());
    }

    private static boolean isName(String name) {
        return NAME.matcher(name).matches() && !name.equals(HostImage.NAME);
    }

    private static String requireName(String name) {
        Failure.InvalidRequest.require(
                isName(name), "image", "must be a name of a-z, 0-9, '.', '_' and '-', at most 64 characters");
        return name;
    }

    private static SandboxException failed(String step, IOException cause) {
        return new SandboxException(new Failure.ProviderFailed(step, String.valueOf(cause)), cause);
    }
}
