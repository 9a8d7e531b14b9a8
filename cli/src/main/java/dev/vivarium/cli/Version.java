package dev.vivarium.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine.IVersionProvider;

/// Version from the build. Stateless.
final class Version {
    private Version() {}

    static String current() {
        try (InputStream text = Version.class.getResourceAsStream("version.txt")) {
            if (text == null) {
                throw new IllegalStateException("the build left version.txt out");
            }
            return new String(text.readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Serves `--version` after other options. Alone, `--version` is handled before picocli is loaded.
    static final class Provider implements IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {"viv " + current()};
        }
    }
}
