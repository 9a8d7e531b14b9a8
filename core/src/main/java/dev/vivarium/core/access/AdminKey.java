package dev.vivarium.core.access;

import dev.vivarium.core.MasterKey;
import dev.vivarium.core.SecretFile;
import dev.vivarium.model.Failure;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.regex.Pattern;

/// File with the API key of the admin, readable only by the user of the server process. The first start creates the
/// file. Stateless.
final class AdminKey {
    private static final String FILE = "credentials";

    /// Format of a configured key: too long to guess, and safe in a header.
    private static final Pattern ACCEPTABLE = Pattern.compile("[\\x21-\\x7e]{16,256}");

    private AdminKey() {}

    static String checked(String configured) {
        Failure.InvalidRequest.require(
                ACCEPTABLE.matcher(configured).matches(),
                "api-key",
                "must be 16 to 256 printable ASCII characters without spaces");
        return configured;
    }

    /// Returns the key in `home`. The first call creates it.
    static String of(Path home, SecureRandom random) {
        Path file = home.resolve(FILE);
        String key = SecretFile.read(file, () -> random(random));
        Failure.InvalidRequest.require(
                ACCEPTABLE.matcher(key).matches(),
                file.toString(),
                "does not hold a key; remove it and the next start makes a new one");
        return key;
    }

    static String random(SecureRandom random) {
        return Keys.PREFIX + HexFormat.of().formatHex(MasterKey.bytes(random, 20));
    }
}
