package dev.vivarium.cli.task;

import dev.vivarium.model.SandboxException;

/// Name of a file, for error messages. Immutable.
record SourceFile(String name) {
    /// Returns an error of the form `graph.yaml:7: task test: priority must be …`.
    SandboxException error(int line, String subject, String rule) {
        return SandboxException.invalid(name + ":" + line + ": " + subject, rule);
    }

    /// Returns an error of the whole file.
    SandboxException error(String rule) {
        return SandboxException.invalid(name, rule);
    }
}
