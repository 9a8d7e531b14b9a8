package dev.vivarium.cli.sync;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/// The other side of a synchronisation. What is written or deleted is so only if it is still as it was when the plan
/// was made; [Changed] says that it is not.
public interface Side {
    /// Every file that is not ignored.
    Scan scan(Ignore ignore) throws IOException;

    /// The bytes of a file, and what they are.
    Content open(String path) throws IOException;

    /// Replaces, or makes, a file. Returns what it is then.
    Version write(String path, Path file, Version version, Optional<Version> expected) throws IOException;

    void delete(String path, Version expected) throws IOException;

    /// What there is, and what is left alone for a reason.
    record Scan(Map<String, Version> files, Map<String, String> skipped) {}

    /// The bytes as they come; whoever takes them closes them.
    record Content(InputStream bytes, boolean executable) {}

    /// Somebody was faster. The next round sees what they did.
    final class Changed extends IOException {
        private static final long serialVersionUID = 1L;

        public Changed(String path) {
            super(path + " changed in the meantime");
        }
    }

    /// This is another one than the plan was made for: what is missing there was never deleted.
    final class Replaced extends IOException {
        private static final long serialVersionUID = 1L;

        public Replaced() {
            super("the sandbox has been replaced");
        }
    }
}
