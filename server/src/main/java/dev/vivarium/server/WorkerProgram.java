package dev.vivarium.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Objects;

/// Program that runs an agent inside a sandbox: the package in `workers/` as one file. Python 3.11 or later starts it
/// as `python3 worker.pyz RUNTIME`. The image contains the SDK of the agent. Stateless.
public final class WorkerProgram {
    /// File name in a sandbox.
    public static final String NAME = "worker.pyz";

    private WorkerProgram() {}

    public static byte[] read() {
        try (var in = WorkerProgram.class.getResourceAsStream(NAME)) {
            return Objects.requireNonNull(in, NAME).readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + NAME, e);
        }
    }
}
