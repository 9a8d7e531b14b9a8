package dev.vivarium.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.HomeLock;
import dev.vivarium.core.store.SandboxRows;
import dev.vivarium.model.Command;
import dev.vivarium.model.Failure;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import dev.vivarium.server.settings.Config;
import dev.vivarium.server.settings.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PurgeCommandTest {
    private static final ThreadId THREAD = new ThreadId("t1");
    private static final ThreadKey OWNED = new ThreadKey(new UserId("alice"), THREAD);
    private static final Map<String, String> ENVIRONMENT = Map.of("VIV_PROVIDER", "process", "POOL_SIZE", "0");

    @TempDir
    private Path home;

    private final List<String> removed = new ArrayList<>();

    @Test
    void purgeEndsRunningSandboxesAndFreesTheirThreads() {
        SandboxId id;
        try (var server = start()) {
            var sandbox = server.sandboxes()
                    .open(NewSandbox.of(new UserId("alice"), THREAD))
                    .sandbox();
            sandbox.exec(Command.shell("sleep 1000")).detach();
            id = sandbox.id();
        }
        purge();
        assertThat(removed).containsExactly(id.value());
        try (var provider = Providers.open(config())) {
            assertThat(provider.survivors()).isEmpty();
        }
        try (var server = start()) {
            assertThat(server.sandboxes().find(OWNED)).isEmpty();
        }
    }

    @Test
    void purgeDeletesSnapshots() {
        try (var server = start()) {
            var sandbox = server.sandboxes()
                    .open(NewSandbox.of(new UserId("alice"), THREAD))
                    .sandbox();
            server.sandboxes().snapshots().take(sandbox, "");
        }
        purge();
        assertThat(removed).hasSize(2);
        try (var provider = Providers.open(config())) {
            assertThat(provider.snapshots()).isEmpty();
        }
        try (var server = start()) {
            assertThat(server.sandboxes().snapshots().list(OWNED)).isEmpty();
        }
    }

    @Test
    void purgeWorksWithoutTheStoreAndDeletesOrphans() throws IOException {
        SandboxId first = leaveSandbox();
        deleteRow(first);
        try (var _ = start()) {
            await().until(() -> Files.exists(home.resolve("orphans/" + first + ".since")));
        }
        SandboxId second = leaveSandbox();
        Files.delete(home.resolve("vivarium.db"));
        assertThatThrownBy(this::start).hasMessageContaining("viv purge");

        purge();
        assertThat(removed).containsExactlyInAnyOrder(first.value(), second.value());
        assertThat(home.resolve("orphans")).isEmptyDirectory();
        start().close();
    }

    @Test
    void purgeKeepsTheRowsOfAnotherServer() throws IOException {
        SandboxId theirs = leaveSandbox();
        Path store = Files.move(home.resolve("vivarium.db"), home.resolve("theirs"));
        purge();
        leaveSandbox();
        Files.move(store, home.resolve("vivarium.db"), StandardCopyOption.REPLACE_EXISTING);

        purge();
        try (var db = Db.sqlite(home.resolve("vivarium.db"))) {
            assertThat(new SandboxRows(db).find(theirs).orElseThrow().end()).isEmpty();
        }
    }

    private SandboxId leaveSandbox() {
        try (var server = start()) {
            return server.sandboxes()
                    .open(NewSandbox.of(new UserId("alice"), THREAD))
                    .sandbox()
                    .id();
        }
    }

    private void deleteRow(SandboxId id) {
        try (var db = Db.sqlite(home.resolve("vivarium.db"))) {
            db.write(sql -> sql.update("delete from sandboxes where id = ?", id.value()));
        }
    }

    @Test
    void purgeRefusesAHomeInUse() {
        try (var _ = HomeLock.claim(home);
                var server = start()) {
            var sandbox = server.sandboxes()
                    .open(NewSandbox.of(new UserId("alice"), THREAD))
                    .sandbox();
            assertThatThrownBy(this::purge)
                    .isInstanceOfSatisfying(
                            SandboxException.class,
                            e -> assertThat(e.failure()).isInstanceOf(Failure.InvalidRequest.class))
                    .hasMessageContaining("is in use by another server");
            assertThat(sandbox.exec(Command.shell("true")).collect().exit().code())
                    .isZero();
        }
        purge();
        assertThat(removed).hasSize(1);
    }

    @Test
    void purgeWithoutATerminalNeedsYes() {
        SandboxId id = leaveSandbox();
        assertThatThrownBy(() -> command(Optional.empty()).run(arguments(), ENVIRONMENT))
                .hasMessageContaining("confirm it with --yes");
        try (var server = start()) {
            assertThat(server.sandboxes().find(id)).isPresent();
        }
        purge();
    }

    @Test
    void purgeDeletesOnlyAfterTheUserConfirms() {
        SandboxId id = leaveSandbox();
        var questions = new ArrayList<String>();
        command(Optional.of(question -> !questions.add(question))).run(arguments(), ENVIRONMENT);
        assertThat(questions).singleElement().asString().contains("Delete the sandboxes (1)", home.toString());
        assertThat(removed).containsExactly("nothing was deleted");
        try (var server = start()) {
            assertThat(server.sandboxes().find(id)).isPresent();
        }

        removed.clear();
        command(Optional.of(question -> true)).run(arguments(), ENVIRONMENT);
        assertThat(removed).containsExactly(id.value());
    }

    @Test
    void purgeOfAnEmptyOrMissingHomeSucceeds() {
        purge();
        purge();
        command(Optional.of(question -> true))
                .run(List.of("--home", home.resolve("absent").toString()), ENVIRONMENT);
        assertThat(removed).isEmpty();
        assertThat(Files.exists(home.resolve("absent"))).isFalse();
    }

    private void purge() {
        var confirmed = new ArrayList<>(arguments());
        confirmed.add("--yes");
        command(Optional.empty()).run(confirmed, ENVIRONMENT);
    }

    private PurgeCommand command(Optional<Predicate<String>> terminal) {
        return new PurgeCommand(InstantSource.system(), removed::add, terminal);
    }

    private Vivarium start() {
        return Vivarium.start(config(), Providers.open(config()));
    }

    private Config config() {
        return Config.of(Settings.read(arguments(), ENVIRONMENT, Path.of("")));
    }

    private List<String> arguments() {
        return List.of("--home", home.toString(), "--port", "0");
    }
}
