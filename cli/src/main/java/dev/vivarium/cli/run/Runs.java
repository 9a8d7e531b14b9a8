package dev.vivarium.cli.run;

import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.http.Transport;
import java.util.Optional;
import java.util.regex.Pattern;

/// Where runs are, and how people name them. Stateless.
public final class Runs {
    public static final String PATH = "/api/v1/sandboxes";

    private static final Pattern SANDBOX = Pattern.compile("sbx[a-z0-9]{20}");

    private Runs() {}

    public static String path(String sandbox) {
        return PATH + "/" + Transport.segment(sandbox);
    }

    /// The sandbox that somebody means: by its id, or by the thread that has it.
    public static String sandbox(Transport http, String name) {
        if (SANDBOX.matcher(name).matches()) {
            return name;
        }
        Optional<JsonFields> found = http.get(PATH + "?limit=1000", fields -> fields).objects("sandboxes").stream()
                .filter(box -> box.string("thread_id").equals(name))
                .findFirst();
        return found.map(box -> box.string("sandbox_id"))
                .orElseThrow(() -> new SandboxException(new Failure.NoSuchSandbox(name, Optional.empty())));
    }
}
