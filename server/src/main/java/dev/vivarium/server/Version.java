package dev.vivarium.server;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/// Version of this program, from a file that the build writes. Stateless.
final class Version {
    private Version() {}

    static String current() {
        try (InputStream resource = Version.class.getResourceAsStream("version.txt")) {
            return resource == null ? "unknown" : new String(resource.readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
