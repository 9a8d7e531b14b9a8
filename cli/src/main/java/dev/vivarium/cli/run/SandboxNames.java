package dev.vivarium.cli.run;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.sdk.RemoteClient;
import java.util.Optional;
import java.util.regex.Pattern;

/// Names of sandboxes on the command line. Stateless.
public final class SandboxNames {
    private static final Pattern ID = Pattern.compile("sbx[a-z0-9]{20}");

    private SandboxNames() {}

    /// The id of the sandbox that is named by its id or by its thread.
    public static String resolve(RemoteClient client, String name) {
        if (ID.matcher(name).matches()) {
            return name;
        }
        return client.runs()
                .sandboxOf(name)
                .map(SandboxId::value)
                .orElseThrow(() -> new SandboxException(new Failure.NoSuchSandbox(name, Optional.empty())));
    }
}
