package dev.vivarium.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

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
}
