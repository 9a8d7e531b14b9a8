package dev.vivarium.core.files;

import dev.vivarium.model.Failure;

/// Permissions of a file after a write. Immutable.
public sealed interface FileMode {
    /// Keeps the permissions of the replaced file, so that a program stays executable. A new file gets `rw-r--r--`.
    FileMode KEPT = new Kept();

    record Kept() implements FileMode {}

    /// Exactly these nine permission bits.
    record Exactly(int bits) implements FileMode {
        private static final int MOST = 0777;

        public Exactly {
            require(bits >= 0 && bits <= MOST);
        }
    }

    /// Parses octal digits, as `chmod` does.
    static FileMode parse(String text) {
        require(text.matches("[0-7]{1,4}"));
        return new Exactly(Integer.parseInt(text, 8));
    }

    private static void require(boolean holds) {
        Failure.InvalidRequest.require(holds, "X-File-Mode", "must be octal digits such as 755, and at most 777");
    }
}
