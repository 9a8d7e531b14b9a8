package dev.vivarium.core.files;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;

/// Which permissions a file has after it was written. Immutable.
public sealed interface FileMode {
    /// Those of the file that it replaces, so that a program stays one; for a new file `rw-r--r--`.
    FileMode KEPT = new Kept();

    /// As [#KEPT].
    record Kept() implements FileMode {}

    /// These and no others: nine bits.
    record Exactly(int bits) implements FileMode {
        private static final int MOST = 0777;

        public Exactly {
            if (bits < 0 || bits > MOST) {
                throw invalid();
            }
        }
    }

    /// Reads octal digits, as `chmod` does.
    static FileMode parse(String text) {
        if (!text.matches("[0-7]{1,4}")) {
            throw invalid();
        }
        return new Exactly(Integer.parseInt(text, 8));
    }

    private static SandboxException invalid() {
        return new SandboxException(
                new Failure.InvalidRequest("X-File-Mode", "must be octal digits such as 755, and at most 777"));
    }
}
