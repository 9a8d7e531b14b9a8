package dev.vivarium.cli;

import dev.vivarium.json.Json;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.SandboxToken;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.core.JsonGenerator;

/// Prints a short-lived token for one sandbox with at most the scopes of the caller.
@Command(
        name = "token",
        description = "Print a token for the sandbox of a thread.",
        footer = {
            "",
            "  curl -H \"Authorization: Bearer $$(viv token t1 --scope fs:ro)\" \\",
            "      \"$$(viv token t1 --scope fs:ro --json | jq -r .endpoint)/files/\""
        })
final class TokenCommand implements Callable<Integer> {
    private static final Duration LONGEST = Duration.ofMinutes(15);

    @Mixin
    private final Invocation viv;

    @Option(
            names = "--scope",
            split = ",",
            required = true,
            paramLabel = "SCOPE",
            description = "Scopes of the token: fs:ro fs:rw shell shell:ro process snapshot.")
    private List<String> scopes = List.of();

    @Option(names = "--ttl", paramLabel = "TIME", description = "Lifetime: 1m to 15m (15m).")
    private Duration ttl = LONGEST;

    @Parameters(index = "0", paramLabel = "THREAD", description = "Thread of the sandbox.")
    private String thread = "";

    TokenCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        if (ttl.compareTo(LONGEST) > 0) {
            // The server would silently limit it to fifteen minutes.
            throw new SandboxException(new Failure.InvalidRequest("--ttl", "must be at most 15m"));
        }
        var account = viv.account();
        SandboxToken made = viv.tokens(account).narrowed(thread, scopes, Optional.of(ttl));
        if (viv.isJson()) {
            viv.json(out -> write(out, made));
        } else {
            viv.out().println(made.token());
            viv.note("until " + made.expiresAt() + ", for " + made.http());
        }
        return 0;
    }

    private static void write(JsonGenerator out, SandboxToken made) {
        out.writeStringProperty("token", made.token());
        out.writeStringProperty("sandbox_id", made.sandbox());
        out.writeStringProperty("endpoint", made.http().toString());
        Json.time(out, "expires_at", made.expiresAt());
        out.writeArrayPropertyStart("scopes");
        made.scopes().forEach(out::writeString);
        out.writeEndArray();
    }
}
