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

    private static final Pattern RUN = Pattern.compile("run[a-z0-9]{20}");

    private SandboxNames() {}

    public static boolean isRun(String name) {
        return RUN.matcher(name).matches();
    }

    /// The id of the sandbox that is named by its id, by its thread or by one of its runs.
    public static String resolve(RemoteClient client, String name) {
        if (ID.matcher(name).matches()) {
            return name;
        }
        if (isRun(name)) {
            return client.runs().get(name).run().sandbox().value();
        }
        return client.runs()
                .sandboxOf(name)
                .map(SandboxId::value)
                .orElseThrow(() -> new SandboxException(new Failure.NoSuchSandbox(name, Optional.empty())));
    }
}
