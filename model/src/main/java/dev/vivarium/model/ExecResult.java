package dev.vivarium.model;

/// Finished command with its output. Immutable.
///
/// Invalid UTF-8 appears as replacement characters. If `truncated` is set, a stream exceeded the output limit of the
/// command; its beginning was kept.
public record ExecResult(Exit exit, String stdout, String stderr, boolean truncated) {
    public int exitCode() {
        return exit.exitCode();
    }
}
