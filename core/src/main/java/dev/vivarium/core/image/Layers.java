package dev.vivarium.core.image;

import com.nimbusds.jose.util.JSONArrayUtils;
import com.nimbusds.jose.util.JSONObjectUtils;
import dev.vivarium.core.Digests;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.text.ParseException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Finder of image layers in a directory: an OCI image layout, or the output of `docker save`. Stateless.
///
/// The names are untrusted, so each must be a regular file below the directory.
final class Layers {
    private static final int LARGEST_INDEX = 4 << 20;
    private static final Map<String, String> ARCHITECTURES = Map.of("amd64", "amd64", "aarch64", "arm64");

    private Layers() {}

    /// Returns the layers, lowest first. Empty if the directory contains no image.
    static Optional<List<Path>> find(Path directory) throws IOException {
        // A newer `docker save` writes both formats. The layout has digests, so it takes precedence.
        if (Files.isRegularFile(directory.resolve("oci-layout"), LinkOption.NOFOLLOW_LINKS)) {
            return Optional.of(fromLayout(directory));
        }
        if (Files.isRegularFile(directory.resolve("manifest.json"), LinkOption.NOFOLLOW_LINKS)) {
            return Optional.of(fromDocker(directory));
        }
        return Optional.empty();
    }

    private static List<Path> fromLayout(Path directory) throws IOException {
        var index = read(file(directory, "index.json"), JSONObjectUtils::parse);
        // An index may refer to another index for the architecture. The depth is limited.
        for (int depth = 0; depth < 4; depth++) {
            if (member(index, "layers").isPresent()) {
                var layers = new ArrayList<Path>();
                for (var layer : list(index, "layers")) {
                    layers.add(blob(directory, layer));
                }
                return layers;
            }
            index = read(blob(directory, choose(list(index, "manifests"))), JSONObjectUtils::parse);
        }
        throw new IOException("the image's index names no layers");
    }

    private static Object choose(List<?> manifests) throws IOException {
        var wanted = ARCHITECTURES.getOrDefault(System.getProperty("os.arch", ""), "");
        for (var manifest : manifests) {
            var platform = member(manifest, "platform");
            if (platform.isEmpty()
                    || platform.flatMap(p -> member(p, "architecture"))
                            .orElse("")
                            .equals(wanted)) {
                return manifest;
            }
        }
        throw new IOException("the image has nothing for this machine's architecture, " + wanted);
    }

    private static Path blob(Path directory, Object descriptor) throws IOException {
        var digest = String.valueOf(member(descriptor, "digest").orElse(""));
        if (!digest.matches("sha256:[0-9a-f]{64}")) {
            throw new IOException("the image names a blob by something other than sha256");
        }
        var blob = file(directory, "blobs/sha256/" + digest.substring(7));
        if (!sha256(blob).equals(digest.substring(7))) {
            throw new IOException("the blob " + digest + " is damaged");
        }
        return blob;
    }

    private static List<Path> fromDocker(Path directory) throws IOException {
        var images = read(file(directory, "manifest.json"), JSONArrayUtils::parse);
        if (images.size() != 1) {
            throw new IOException("the archive must hold exactly one image");
        }
        var layers = new ArrayList<Path>();
        for (var name : list(images.getFirst(), "Layers")) {
            layers.add(file(directory, String.valueOf(name)));
        }
        return layers;
    }

    private static Path file(Path directory, String name) throws IOException {
        var file = directory.resolve(name).normalize();
        if (!file.startsWith(directory) || !file.toRealPath().startsWith(directory.toRealPath())) {
            throw new IOException("'" + name + "' leaves the image");
        }
        if (!Files.isRegularFile(file)) {
            throw new IOException("'" + name + "' is not in the image");
        }
        return file;
    }

    /// Parser of an object or of an array.
    private interface Parser<T> {
        @Nullable
        T parse(String text) throws ParseException;
    }

    private static <T> T read(Path file, Parser<T> parser) throws IOException {
        if (Files.size(file) > LARGEST_INDEX) {
            throw new IOException("the image's index is too large");
        }
        try {
            return Optional.ofNullable(parser.parse(Files.readString(file)))
                    .orElseThrow(() -> new ParseException("null", 0));
        } catch (ParseException e) {
            throw new IOException("damaged JSON: " + e.getMessage(), e);
        }
    }

    /// Returns the member of an object. Empty if `value` is not an object or has no such member.
    private static Optional<Object> member(Object value, String name) {
        return value instanceof Map<?, ?> map ? Optional.ofNullable(map.get(name)) : Optional.empty();
    }

    private static List<?> list(Object value, String name) {
        return member(value, name).orElse(List.of()) instanceof List<?> list ? list : List.of();
    }

    private static String sha256(Path file) throws IOException {
        try (var in = new DigestInputStream(Files.newInputStream(file), Digests.sha256())) {
            in.transferTo(OutputStream.nullOutputStream());
            return HexFormat.of().formatHex(in.getMessageDigest().digest());
        }
    }
}
