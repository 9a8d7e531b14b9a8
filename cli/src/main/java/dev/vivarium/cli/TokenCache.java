package dev.vivarium.cli;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Failure;
import dev.vivarium.model.OnIdle;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.RemoteClient;
import dev.vivarium.sdk.SandboxToken;
import dev.vivarium.sdk.TokenSource;
import dev.vivarium.sdk.Tokens;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import tools.jackson.core.JsonGenerator;

/// Tokens of one account in files that only their owner can read, renewed before they expire. Two processes may renew a
/// token at once; the later one wins. Thread-safe.
final class TokenCache {
    private final RemoteClient client;
    private final Path directory;
    private final String account;
    private final Optional<String> user;
    private final Consumer<String> notes;
    private final InstantSource clock;

    /// @param account  separates these tokens from those of another server or profile
    /// @param user     the owner of a new thread
    /// @param notes    receives a sentence for the user when a call created a sandbox
    TokenCache(
            RemoteClient client,
            Path directory,
            String account,
            Optional<String> user,
            Consumer<String> notes,
            InstantSource clock) {
        this.client = client;
        this.directory = directory;
        this.account = account;
        this.user = user;
        this.notes = notes;
        this.clock = clock;
    }

    /// The action if a thread has no sandbox.
    enum IfAbsent {
        FAIL,
        CREATE
    }

    /// Tokens of one thread.
    TokenSource source(String thread, IfAbsent ifAbsent) {
        return new TokenSource() {
            @Override
            public SandboxToken current() {
                return get(thread, ifAbsent);
            }

            @Override
            public SandboxToken renew(SandboxToken rejected) {
                return TokenCache.this.renew(thread, rejected, ifAbsent);
            }
        };
    }

    /// The cached token, renewed if it is about to expire, or a new one.
    SandboxToken get(String thread, IfAbsent ifAbsent) {
        Optional<SandboxToken> cached = load(thread);
        if (cached.isEmpty()) {
            return issue(thread, ifAbsent, Optional.empty());
        }
        return cached.get().isDue(clock.instant()) ? renew(thread, cached.get(), ifAbsent) : cached.get();
    }

    /// Returns a token with fewer scopes, derived from a new token, because it cannot outlive its parent.
    SandboxToken narrowed(String thread, List<String> scopes, Optional<Duration> lifetime) {
        SandboxToken own = issue(thread, IfAbsent.FAIL, Optional.empty());
        return client.tokens().narrow(thread, own, scopes, lifetime);
    }

    /// The successor of a token that was rejected or is about to expire; a new token if the server refuses one.
    private SandboxToken renew(String thread, SandboxToken old, IfAbsent ifAbsent) {
        try {
            return save(thread, client.tokens().refresh(thread, old));
        } catch (SandboxException e) {
            if (e.failure().owner() != Failure.Owner.CALLER) {
                throw e;
            }
            return issue(thread, ifAbsent, Optional.of(old.sandbox()));
        }
    }

    private SandboxToken issue(String thread, IfAbsent ifAbsent, Optional<String> previous) {
        forget(thread);
        if (ifAbsent == IfAbsent.FAIL) {
            client.threads().sandboxState(thread);
        }
        Optional<String> owner = ifAbsent == IfAbsent.CREATE ? user : Optional.empty();
        Tokens.NewToken issued = issue(thread, previous, owner);
        SandboxToken token = save(thread, issued.token());
        if (previous.isPresent() && !previous.get().equals(token.sandbox())) {
            notes.accept("the sandbox of " + thread + " had ended; this is a new one without its files");
        } else if (issued.isNewSandbox()) {
            notes.accept("created sandbox for thread " + thread);
        }
        return token;
    }

    /// Asks for hibernation. A sandbox that somebody created with the other policy keeps it.
    private Tokens.NewToken issue(String thread, Optional<String> previous, Optional<String> owner) {
        try {
            return client.tokens().issue(thread, previous, owner, Optional.of(OnIdle.HIBERNATE));
        } catch (SandboxException e) {
            if (e.failure() instanceof Failure.InvalidRequest invalid
                    && invalid.field().equals("on_idle")) {
                return client.tokens().issue(thread, previous, owner, Optional.empty());
            }
            throw e;
        }
    }

    /// An absent or unreadable file counts as no token.
    private Optional<SandboxToken> load(String thread) {
        try {
            return Optional.of(read(Json.answer(Files.readString(file(thread)))));
        } catch (IOException | RuntimeException _) {
            return Optional.empty();
        }
    }

    /// A token that cannot be saved is still valid.
    private SandboxToken save(String thread, SandboxToken issued) {
        SandboxToken token = issued.withIssuedAt(clock.instant());
        try {
            Files.createDirectories(
                    directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            Path fresh = Files.createTempFile(
                    directory,
                    "pass",
                    ".tmp",
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            Files.write(fresh, Json.bytes(out -> write(out, token)), StandardOpenOption.TRUNCATE_EXISTING);
            Files.move(fresh, file(thread), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException _) {
            forget(thread);
        }
        return token;
    }

    /// Deletes the cached token.
    void forget(String thread) {
        try {
            Files.deleteIfExists(file(thread));
        } catch (IOException _) {
            // The server rejects the stale token, and a new one replaces it.
        }
    }

    private Path file(String thread) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256")
                    .digest((client.server() + "\n" + account + "\n" + thread).getBytes(StandardCharsets.UTF_8));
            return directory.resolve(HexFormat.of().formatHex(digest, 0, 16) + ".json");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static SandboxToken read(JsonFields fields) {
        return new SandboxToken(
                fields.string("sandbox_id"),
                URI.create(fields.string("http")),
                URI.create(fields.string("ws")),
                fields.string("token"),
                fields.time("issued_at"),
                fields.time("expires_at"),
                fields.findStrings("scopes").orElse(List.of()));
    }

    private static void write(JsonGenerator out, SandboxToken token) {
        out.writeStringProperty("sandbox_id", token.sandbox());
        out.writeStringProperty("http", token.http().toString());
        out.writeStringProperty("ws", token.ws().toString());
        out.writeStringProperty("token", token.token());
        Json.time(out, "issued_at", token.issuedAt());
        Json.time(out, "expires_at", token.expiresAt());
        out.writeArrayPropertyStart("scopes");
        token.scopes().forEach(out::writeString);
        out.writeEndArray();
    }
}
