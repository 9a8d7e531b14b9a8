package dev.vivarium.cli.remote;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.http.Transport;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/// The passes of one account: asked for once, kept in files that nobody else can read, and renewed before they end.
/// Thread-safe; two processes may ask at the same time, and the later answer is kept.
public final class Passes {
    /// As much as one may have; the server gives what it allows.
    private static final List<String> EVERYTHING = List.of("fs:rw", "shell", "process", "snapshot");

    private final Transport http;
    private final Path directory;
    private final String account;
    private final Optional<String> user;
    private final Consumer<String> replaced;
    private final InstantSource clock;

    /// @param account what separates these passes from those of another server or profile
    /// @param user on whose behalf a thread begins
    /// @param replaced is told of a thread whose sandbox is not the one that its pass was for
    public Passes(
            Transport http,
            Path directory,
            String account,
            Optional<String> user,
            Consumer<String> replaced,
            InstantSource clock) {
        this.http = http;
        this.directory = directory;
        this.account = account;
        this.user = user;
        this.replaced = replaced;
        this.clock = clock;
    }

    /// What to do when the thread has no sandbox.
    public enum IfAbsent {
        /// Looking must not make one.
        FAIL,
        CREATE
    }

    /// A pass that will hold for a while.
    public Pass of(String thread, IfAbsent ifAbsent) {
        Optional<Pass> kept = kept(thread);
        if (kept.isEmpty()) {
            return negotiate(thread, ifAbsent, Optional.empty());
        }
        return kept.get().isDue(clock.instant()) ? renew(thread, kept.get(), ifAbsent) : kept.get();
    }

    /// A pass whose whole life is before it.
    public Pass fresh(String thread, IfAbsent ifAbsent) {
        return negotiate(thread, ifAbsent, Optional.empty());
    }

    /// A token that allows less than ours, for someone else; as the server tells it. It is made of a fresh one,
    /// since it cannot live longer than what it is made of.
    public JsonFields narrowed(String thread, List<String> scopes, Optional<Duration> ttl) {
        Pass own = fresh(thread, IfAbsent.FAIL);
        return http.post(
                path(thread) + "/token",
                out -> {
                    out.writeStringProperty("current_token", own.token());
                    out.writeArrayPropertyStart("scopes");
                    scopes.forEach(out::writeString);
                    out.writeEndArray();
                    ttl.ifPresent(time -> out.writeNumberProperty("ttl", time.toSeconds()));
                },
                fields -> fields);
    }

    boolean isDue(Pass pass) {
        return pass.isDue(clock.instant());
    }

    /// Another pass for one that was refused or is nearly over: a continuation if the server allows, else a new
    /// one.
    public Pass renew(String thread, Pass old, IfAbsent ifAbsent) {
        Instant now = clock.instant();
        try {
            Pass next = http.post(
                    path(thread) + "/refresh",
                    out -> {
                        out.writeStringProperty("sandbox_id", old.sandbox());
                        out.writeStringProperty("current_token", old.token());
                    },
                    fields -> old.renewed(fields, now));
            keep(thread, next);
            return next;
        } catch (SandboxException e) {
            if (e.failure().owner() != Failure.Owner.CALLER) {
                throw e;
            }
            return negotiate(thread, ifAbsent, Optional.of(old.sandbox()));
        }
    }

    private Pass negotiate(String thread, IfAbsent ifAbsent, Optional<String> hint) {
        forget(thread);
        if (ifAbsent == IfAbsent.FAIL) {
            http.get(path(thread), fields -> fields);
        }
        Instant now = clock.instant();
        Pass pass = http.post(
                path(thread),
                out -> {
                    hint.ifPresent(sandbox -> out.writeStringProperty("sandbox_id", sandbox));
                    if (ifAbsent == IfAbsent.CREATE) {
                        user.ifPresent(who -> out.writeStringProperty("user_id", who));
                    }
                    out.writeArrayPropertyStart("scopes");
                    EVERYTHING.forEach(out::writeString);
                    out.writeEndArray();
                },
                fields -> Pass.read(fields, now));
        keep(thread, pass);
        if (hint.isPresent() && !hint.get().equals(pass.sandbox())) {
            replaced.accept(thread);
        }
        return pass;
    }

    public static String path(String thread) {
        return "/threads/" + Transport.segment(thread) + "/sandbox";
    }

    private Optional<Pass> kept(String thread) {
        try {
            return Optional.of(Pass.restored(Json.answer(Files.readString(file(thread)))));
        } catch (IOException | RuntimeException _) {
            return Optional.empty(); // Not there, or of another version: as good as none.
        }
    }

    /// A pass that cannot be kept is still a pass.
    private void keep(String thread, Pass pass) {
        try {
            Files.createDirectories(
                    directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            Path target = file(thread);
            Path fresh = Files.createTempFile(
                    directory,
                    "pass",
                    ".tmp",
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            Files.write(fresh, Json.bytes(pass::write), StandardOpenOption.TRUNCATE_EXISTING);
            Files.move(fresh, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException _) {
            forget(thread);
        }
    }

    public void forget(String thread) {
        try {
            Files.deleteIfExists(file(thread));
        } catch (IOException _) {
            // It will be refused and replaced.
        }
    }

    private Path file(String thread) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256")
                    .digest((http.base() + "\n" + account + "\n" + thread).getBytes(StandardCharsets.UTF_8));
            return directory.resolve(HexFormat.of().formatHex(digest, 0, 16) + ".json");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
