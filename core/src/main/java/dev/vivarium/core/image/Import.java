package dev.vivarium.core.image;

import dev.vivarium.core.provider.FileTrees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/// Import of a root file system from an external source. Immutable.
record Import(Path root, Consumer<String> progress) {
    void from(Path source) throws IOException {
        if (Files.isDirectory(source)) {
            fromDirectory(source);
        } else if (Files.isRegularFile(source)) {
            fromFile(source);
        } else {
            throw new IOException(source + " is neither a file nor a directory");
        }
        if (!Files.exists(root.resolve("bin")) && !Files.exists(root.resolve("usr"))) {
            throw new IOException(source + " holds no root file system: there is neither /bin nor /usr");
        }
    }

    private void fromDirectory(Path source) throws IOException {
        var layers = Layers.find(source);
        if (layers.isPresent()) {
            stack(layers.get());
        } else {
            progress.accept("copying " + source);
            Archive.copyInto(new Tree(root), source.toRealPath());
        }
    }

    /// The archive may be a root file system or an image with layers. Only its content shows which.
    private void fromFile(Path source) throws IOException {
        progress.accept("unpacking " + source.getFileName());
        new Archive(source).unpackInto(new Tree(root));
        if (Files.exists(root.resolve("usr")) || Files.exists(root.resolve("bin"))) {
            return;
        }
        var image = root.resolveSibling("image");
        Files.move(root, image);
        Skeleton.directory(root);
        stack(Layers.find(image)
                .orElseThrow(() -> new IOException(source + " is neither a root file system nor an image")));
        FileTrees.delete(image);
    }

    private void stack(List<Path> layers) throws IOException {
        var tree = new Tree(root);
        for (var layer : layers) {
            progress.accept("unpacking layer " + (layers.indexOf(layer) + 1) + " of " + layers.size());
            tree.nextLayer();
            new Archive(layer).unpackInto(tree);
        }
    }
}
