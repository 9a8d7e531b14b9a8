package dev.vivarium.core.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.testbed.PostgresServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PostgresDbTest {
    /// Time in which the database must respond, and again within twice this time.
    private static final Duration SHORT = Duration.ofSeconds(6);

    @TempDir
    private Path home;

    private final PostgresAddress address =
            PostgresAddress.of(PostgresServer.shared().newDatabase());

    @Test
    void databaseIsUsedByOneServerAtATime() {
        try (var _ = Db.postgres(address, home)) {
            assertThatThrownBy(() -> Db.postgres(address, home, SHORT))
                    .hasMessageContaining(address.shown())
                    .hasMessageContaining("in use by another server");
        }
        Db.postgres(address, home).close();
    }

    @Test
    void closedConnectionsAreReopened() {
        try (var server = PostgresServer.start();
                var db = Db.postgres(PostgresAddress.of(server.newDatabase()), home)) {
            db.write(sql -> sql.update("create table kept (n integer not null)"));
            kept(db);
            server.cutConnections();

            assertThat(kept(db)).isEmpty();
            db.write(sql -> sql.update("insert into kept (n) values (?)", 1));
            assertThat(kept(db)).containsExactly(1);
        }
    }

    private static List<Integer> kept(Db db) {
        return db.read(sql -> sql.list("select n from kept", row -> row.getInt(1)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql://127.0.0.1:1/viv", "postgresql://no-such-host.invalid/viv"})
    void unreachableDatabaseIsReportedWithItsAddress(String unreachable) {
        assertThatThrownBy(() -> Db.postgres(PostgresAddress.of(unreachable), home))
                .hasMessageContaining(unreachable)
                .hasMessageContaining("the store did not answer");
    }

    @ParameterizedTest
    @CsvSource({
        "postgresql://h/d, jdbc:postgresql://h/d",
        "postgres://h:1/d, jdbc:postgresql://h:1/d",
        "jdbc:postgresql://h/d?user=u, jdbc:postgresql://h/d?user=u",
        "postgresql://u@h/d, jdbc:postgresql://h/d?user=u",
        "postgresql://u:a%40+b@h/d?ssl=true, jdbc:postgresql://h/d?user=u&password=a%40%2Bb&ssl=true",
    })
    void addressFormatsAreAccepted(String text, String jdbc) {
        assertThat(PostgresAddress.of(text).jdbc()).isEqualTo(jdbc);
    }

    @Test
    void addressHidesThePassword() {
        assertThat(PostgresAddress.of("postgresql://u:secret@h/d?password=secret"))
                .hasToString("postgresql://h/d");
        assertThatThrownBy(() -> PostgresAddress.of("mysql://u:secret@h/d")).hasMessageNotContaining("secret");
    }
}
