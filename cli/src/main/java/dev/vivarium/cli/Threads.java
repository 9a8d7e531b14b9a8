package dev.vivarium.cli;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.ThreadId;
import dev.vivarium.sdk.Sandbox;
import dev.vivarium.sdk.SandboxClient;

/// Threads that must have a sandbox already: looking must not make one.
final class Threads {
    private Threads() {}

    static Sandbox require(SandboxClient client, String thread) {
        return client.find(thread)
                .orElseThrow(() -> new SandboxException(new Failure.NoSandboxForThread(new ThreadId(thread))));
    }
}
