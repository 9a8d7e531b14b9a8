package dev.vivarium.cli.sync;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/// SHA-256 hashes, as in the data plane. Stateless.
final class Hashes {
    private Hashes() {}

    static MessageDigest begin() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    static String end(MessageDigest digest) {
        return HexFormat.of().formatHex(digest.digest());
    }
}
