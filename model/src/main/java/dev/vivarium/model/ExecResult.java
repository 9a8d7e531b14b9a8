package dev.vivarium.model;

/// A finished command with what it wrote. Bytes that are not UTF-8 appear as replacement characters. Immutable.
///
/// `truncated` says that at least one stream was longer than the command's output limit; the beginning is what was
/// kept.
public record ExecResult(Exit exit, String stdout, String stderr, boolean truncated) {
    public int exitCode() {
        return exit.exitCode();
    }
}
