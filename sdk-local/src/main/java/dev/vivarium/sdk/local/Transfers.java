package dev.vivarium.sdk.local;

import dev.vivarium.core.files.Upload;
import dev.vivarium.core.files.Workspace;
import dev.vivarium.model.FileEntry;
import dev.vivarium.sdk.engine.Content;
import java.io.IOException;
import java.io.UncheckedIOException;

/// Uploads to a sandbox, in pieces. Stateless.
final class Transfers {
    private static final int PIECE = 64 * 1024;

    private Transfers() {}

    /// Only the disk of the sandbox limits an upload, because the caller owns the machine.
    static FileEntry upload(Workspace files, String name, Content content) {
        try {
            content.length(); // Not a file at all: said before anything is made of it.
            try (var upload = files.write(name, Upload.Limits.NONE);
                    var bytes = content.open()) {
                byte[] piece = new byte[PIECE];
                for (int count = bytes.read(piece); count >= 0; count = bytes.read(piece)) {
                    upload.write(piece, 0, count);
                }
                return upload.commit();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
