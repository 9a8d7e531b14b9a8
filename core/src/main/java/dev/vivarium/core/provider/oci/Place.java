package dev.vivarium.core.provider.oci;

import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.core.provider.GuestListener;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/// Where things are on the host. Immutable.
///
/// @param hash stands for the home where its path would be too long or too telling
/// @param run  holds a directory for each machine; only root enters it
record Place(String hash, Path run) {
    private static final Path SHARED = Path.of("/run/vivarium");
    private static final int HASH_DIGITS = 12;
    /// A machine's socket below `run`.
    private static final int SOCKET_LENGTH = "/sbx/wire/s.new".length() + 20;

    static Place of(Path home) throws IOException {
        var hash = hash(home.toString());
        var run = home.resolve("run");
        if (run.toString().getBytes(StandardCharsets.UTF_8).length + SOCKET_LENGTH > GuestListener.LONGEST_PATH) {
            run = SHARED.resolve(hash);
        }
        FileTrees.make(SHARED, "rwxr-xr-x");
        FileTrees.make(SHARED.resolve("stage"), "rwxr-xr-x");
        FileTrees.make(SHARED.resolve("blocks"), "rwx------");
        return new Place(hash, FileTrees.make(run, "rwx------"));
    }

    /// Every launch covers this directory, in a mount namespace of its own, with its machine's.
    Path stage() {
        return SHARED.resolve("stage");
    }

    Path blocks() {
        return SHARED.resolve("blocks");
    }

    RunDirectory directory(SandboxId id) {
        return RunDirectory.of(run, id);
    }

    private static String hash(String text) {
        try {
            var digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest).substring(0, HASH_DIGITS);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }
}
