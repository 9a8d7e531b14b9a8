package dev.vivarium.core.watch;

import dev.vivarium.core.Digests;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/// Known content of a file. Immutable.
///
/// @param text the whole content, if it is small and text
record Content(Optional<String> sha256, Optional<String> text) {
    static Content of(byte[] bytes) {
        return new Content(Optional.of(Digests.sha256(bytes)), text(bytes));
    }

    static Content hash(String sha256) {
        return new Content(Optional.of(sha256), Optional.empty());
    }

    /// Returns nothing if the bytes are not text. A NUL is not text, and PostgreSQL does not store it.
    private static Optional<String> text(byte[] bytes) {
        for (byte b : bytes) {
            if (b == 0) {
                return Optional.empty();
            }
        }
        try {
            return Optional.of(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString());
        } catch (CharacterCodingException e) {
            return Optional.empty();
        }
    }
}
