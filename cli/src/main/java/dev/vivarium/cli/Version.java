package dev.vivarium.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine.IVersionProvider;

/// The version that the build wrote into the jar.
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

    /// For `--version` behind other options; alone, it is answered before picocli is loaded.
    static final class Provider implements IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {"viv " + current()};
        }
    }
}
