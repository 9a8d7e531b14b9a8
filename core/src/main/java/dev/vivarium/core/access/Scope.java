package dev.vivarium.core.access;

import dev.vivarium.model.SandboxException;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;

/// Kind of operation on a sandbox. Immutable.
public enum Scope {
    /// Read files.
    FS_RO("fs:ro"),
    /// Read and write files.
    FS_RW("fs:rw"),
    /// Send input to a shell.
    SHELL("shell"),
    /// Read the output of a shell.
    SHELL_RO("shell:ro"),
    /// Run, list and signal processes; connect to ports inside.
    PROCESS("process"),
    /// Take, restore and fork snapshots.
    SNAPSHOT("snapshot");

    private final String text;

    Scope(String text) {
        this.text = text;
    }

    /// Returns the name in tokens and requests.
    public String text() {
        return text;
    }

    /// Returns the scope with this name. Throws `InvalidRequest` for an unknown name.
    public static Scope of(String text) {
        for (Scope scope : values()) {
            if (scope.text.equals(text)) {
                return scope;
            }
        }
        String all = Arrays.stream(values()).map(Scope::text).collect(Collectors.joining(", "));
        throw SandboxException.invalid("scopes", "must be of " + all);
    }

    boolean covers(Scope other) {
        return this == other || weaker().filter(other::equals).isPresent();
    }

    /// Returns the read-only form of this scope, if it has one.
    Optional<Scope> weaker() {
        return switch (this) {
            case FS_RW -> Optional.of(FS_RO);
            case SHELL -> Optional.of(SHELL_RO);
            case FS_RO, SHELL_RO, PROCESS, SNAPSHOT -> Optional.empty();
        };
    }
}
