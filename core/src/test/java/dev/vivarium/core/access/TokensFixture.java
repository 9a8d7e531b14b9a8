package dev.vivarium.core.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.core.Scheduler;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.SandboxRow;
import dev.vivarium.core.store.SandboxRows;
import dev.vivarium.model.Egress;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Limits;
import dev.vivarium.model.OnIdle;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/// Fixture with tokens on a store of their own, and a clock that the test sets.
abstract class TokensFixture {
    static final SandboxId BOX = new SandboxId("sbxaaaaaaaaaaaaaaaaaaaa");
    static final SandboxId OTHER = new SandboxId("sbxbbbbbbbbbbbbbbbbbbbb");
    static final UserId ANNA = new UserId("anna");
    static final ThreadKey THREAD = new ThreadKey(ANNA, new ThreadId("thread"));

    final AtomicReference<Instant> time = new AtomicReference<>(Instant.parse("2026-01-01T10:00:00Z"));
    final InstantSource clock = time::get;
    final Scheduler scheduler = new Scheduler(clock);

    @TempDir
    Path home;

    Db db;
    Tokens tokens;

    @BeforeEach
    void open() {
        db = Db.sqlite(home.resolve("store.db"));
        insert(BOX, "thread");
        insert(OTHER, "other");
        tokens = Tokens.open(db, home, Tokens.Mode.JWT, scheduler);
    }

    @AfterEach
    void close() {
        tokens.close();
        scheduler.close();
        db.close();
    }

    void assertRejected(String token) {
        assertThatThrownBy(() -> tokens.verify(token))
                .isInstanceOfSatisfying(
                        SandboxException.class,
                        e -> assertThat(e.failure()).isInstanceOf(Failure.NotAuthenticated.class));
    }

    void advance(Duration some) {
        time.updateAndGet(now -> now.plus(some));
    }

    void insert(SandboxId id, String thread) {
        new SandboxRows(db)
                .insert(new SandboxRow(
                        id,
                        Optional.of(new ThreadKey(ANNA, new ThreadId(thread))),
                        SandboxRow.Phase.RUNNING,
                        "host",
                        "secret",
                        Limits.STANDARD,
                        Map.of(),
                        Egress.NONE,
                        Duration.ofMinutes(30),
                        OnIdle.END,
                        time.get(),
                        time.get(),
                        time.get().plus(Duration.ofDays(1)),
                        Optional.empty()));
    }

    IssuedToken issue(String scopes) {
        return tokens.issue(request(scopes));
    }

    static TokenRequest request(String scopes) {
        return new TokenRequest(
                ANNA, Grant.Standing.OWNER, BOX, THREAD, Scopes.parse(scopes), TokenRequest.MAX_TTL, List.of());
    }

    void reopen(Tokens.Mode mode) {
        tokens.close();
        tokens = Tokens.open(db, home, mode, scheduler);
    }
}
