package dev.vivarium.core.store;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.List;

/// Schema migrations: numbered SQL files beside this class. They run in order if the database is behind. Stateless.
///
/// To add a migration:
///
/// 1. Write `V<n>__name.sql` with the next number. End each statement with `;` at the end of a line. Use SQL that
///    SQLite and PostgreSQL both accept.
/// 2. Add its name to [#FILES].
///
/// Never change a released file.
final class Migrations {
    static final List<String> FILES = List.of(
            "V1__sandboxes.sql",
            "V2__api_keys.sql",
            "V3__access.sql",
            "V4__snapshots.sql",
            "V5__egress.sql",
            "V6__events.sql",
            "V7__runs.sql",
            "V8__files.sql",
            "V9__usage.sql",
            "V10__delivery.sql",
            "V11__told.sql",
            "V12__given_ids.sql",
            "V13__browser_sessions.sql",
            "V14__lineage.sql",
            "V15__store_identity.sql",
            "V16__pause_reason.sql",
            "V17__event_readers.sql",
            "V18__run_history.sql",
            "V19__thread_owners.sql",
            "V20__audit_folds.sql",
            "V21__idempotency_keys.sql",
            "V22__hibernation.sql",
            "V23__run_sandboxes.sql",
            "V24__idle_limit.sql",
            "V25__key_details.sql",
            "V26__session_view.sql",
            "V27__duty_leases.sql",
            "V28__tasks.sql",
            "V29__inherit_and_race.sql",
            "V30__liveness.sql",
            "V31__guardian.sql",
            "V32__webhooks.sql",
            "V33__alerts.sql",
            "V34__git.sql");

    private Migrations() {}

    /// Migrates the schema to the newest version, in the transaction of the caller.
    static int run(Sql sql) throws SQLException {
        sql.update("create table if not exists schema_version (version integer not null)");
        int version = (int) sql.number("select max(version) from schema_version");
        for (String file : FILES.subList(Math.min(version, FILES.size()), FILES.size())) {
            for (String statement : text(file).split(";\\s*\n")) {
                sql.update(statement);
            }
            sql.update("insert into schema_version (version) values (?)", ++version);
        }
        return version;
    }

    private static String text(String file) {
        try (InputStream resource = Migrations.class.getResourceAsStream(file)) {
            if (resource == null) {
                throw new IllegalStateException("the migration " + file + " is not in the program");
            }
            return new String(resource.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
