package dev.vivarium.core.access;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;

/// One thing that may be done to a sandbox. Immutable.
public enum Scope {
    /// Read files.
    FS_RO("fs:ro"),
    /// Read and write files.
    FS_RW("fs:rw"),
    /// Type in a shell.
    SHELL("shell"),
    /// Watch a shell.
    SHELL_RO("shell:ro"),
    /// Run, see and signal processes; reach ports inside.
    PROCESS("process"),
    /// Take, restore and fork snapshots.
    SNAPSHOT("snapshot");

    private final String text;

    Scope(String text) {
        this.text = text;
    }

    /// As it stands in tokens and requests.
    public String text() {
        return text;
    }

    /// The scope of that name; throws [Failure.InvalidRequest] when there is none.
    public static Scope of(String text) {
        for (Scope scope : values()) {
            if (scope.text.equals(text)) {
                return scope;
            }
        }
        String all = Arrays.stream(values()).map(Scope::text).collect(Collectors.joining(", "));
        throw new SandboxException(new Failure.InvalidRequest("scopes", "must be of " + all));
    }

    /// Reports whether whoever has this one may also do what `other` allows.
    boolean covers(Scope other) {
        return this == other || weaker().filter(other::equals).isPresent();
    }

    /// What is left of it for somebody who may only look.
    Optional<Scope> weaker() {
        return switch (this) {
            case FS_RW -> Optional.of(FS_RO);
            case SHELL -> Optional.of(SHELL_RO);
            case FS_RO, SHELL_RO, PROCESS, SNAPSHOT -> Optional.empty();
        };
    }
}
