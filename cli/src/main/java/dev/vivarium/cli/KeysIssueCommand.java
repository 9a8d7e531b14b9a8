package dev.vivarium.cli;

import dev.vivarium.sdk.Keys.KeyRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "issue", description = "Issue a key for a user. It is shown once.")
final class KeysIssueCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Parameters(index = "0", paramLabel = "USER")
    private String user = "";

    @Option(names = "--label", paramLabel = "TEXT", description = "Purpose of the key, such as a machine or a program.")
    private @Nullable String label;

    @Option(
            names = "--expires-in",
            paramLabel = "TIME",
            description =
                    "Time until the key becomes invalid, such as 12h or 30d. Without it, the key does not expire.")
    private @Nullable Duration expiresIn;

    KeysIssueCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        var issued = viv.client()
                .keys()
                .issue(new KeyRequest(
                        user,
                        Optional.ofNullable(label),
                        Optional.ofNullable(expiresIn).map(Instant.now()::plus)));
        if (viv.isJson()) {
            viv.json(out -> {
                out.writeStringProperty("key_id", issued.id());
                out.writeStringProperty("user_id", issued.user().value());
                out.writeStringProperty("key", issued.key());
            });
        } else {
            viv.out().println(issued.key());
            viv.note("key " + issued.id() + " of " + issued.user().value() + "; it is not shown again");
        }
        return 0;
    }
}
