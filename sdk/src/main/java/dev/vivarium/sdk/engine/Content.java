package dev.vivarium.sdk.engine;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.OptionalLong;

/// Content of an upload: a file, which can be read again, or a stream, which cannot. Used by one upload at a time.
public sealed interface Content {
    /// Opens the content. The caller closes it.
    InputStream open() throws IOException;

    /// Returns the size, if it is known in advance.
    OptionalLong length() throws IOException;

    /// Local file.
    record OfFile(Path file) implements Content {
        @Override
        public InputStream open() throws IOException {
            return Files.newInputStream(file);
        }

        @Override
        public OptionalLong length() throws IOException {
            var attributes = Files.readAttributes(file, BasicFileAttributes.class);
            if (attributes.isDirectory()) {
                throw new FileSystemException(file.toString(), null, "is a directory");
            }
            return attributes.isRegularFile() ? OptionalLong.of(attributes.size()) : OptionalLong.empty();
        }
    }

    /// Stream of the caller, who closes it.
    record OfStream(InputStream stream) implements Content {
        @Override
        public InputStream open() {
            return new CloseShieldInputStream(stream);
        }

        @Override
        public OptionalLong length() {
            return OptionalLong.empty();
        }
    }
}
