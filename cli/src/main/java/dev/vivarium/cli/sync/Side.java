package dev.vivarium.cli.sync;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/// One side of a synchronization: a directory or a workspace. A write or delete succeeds only if the file still has
/// the version of the plan; otherwise it throws [Changed].
public interface Side {
    /// Lists all files that are not ignored.
    Scan scan(Ignore ignore) throws IOException;

    /// Opens a file with its version.
    Content open(String path) throws IOException;

    /// Creates or replaces a file. Returns its version.
    Version write(String path, Path file, Version version, Optional<Version> expected) throws IOException;

    void delete(String path, Version expected) throws IOException;

    /// Files, and skipped names with the reason.
    record Scan(Map<String, Version> files, Map<String, String> skipped) {}

    /// Content of a file. The caller closes it.
    record Content(InputStream bytes, boolean executable) {}

    /// The file changed after the plan. The next round handles it.
    final class Changed extends IOException {
        private static final long serialVersionUID = 1L;

        public Changed(String path) {
            super(path + " changed in the meantime");
        }
    }

    /// The sandbox was replaced after the plan, so missing files were not deleted.
    final class Replaced extends IOException {
        private static final long serialVersionUID = 1L;

        public Replaced() {
            super("the sandbox has been replaced");
        }
    }
}
