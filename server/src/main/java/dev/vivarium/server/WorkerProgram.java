package dev.vivarium.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Objects;

/// The program that runs beside an agent in its sandbox: the package in `workers/` as one file, which any Python from
/// 3.11 on starts as `python3 worker.pyz RUNTIME`. It brings nothing of an agent's SDK; that is the image's. Stateless.
public final class WorkerProgram {
    /// What it is called in a sandbox.
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
