package dev.vivarium.core.store;

import dev.vivarium.core.MasterKey;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.sql.SQLException;
import java.util.Map;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Codec of the encrypted environment of a sandbox or a task in one column. An empty environment is stored as an empty
/// text. Thread-safe.
public record SealedEnv(Supplier<MasterKey> key) {
    private static final Logger LOG = LoggerFactory.getLogger(SealedEnv.class);

    /// [EnvText] escapes colons, so no plain environment starts like this.
    private static final String PREFIX = "sealed:";

    public static SealedEnv of(Db db) {
        return new SealedEnv(db::masterKey);
    }

    /// @param owner id of the sandbox or the task
    public String seal(String owner, Map<String, String> env) {
        return seal(owner, EnvText.encode(env));
    }

    private String seal(String owner, String plain) {
        return plain.isEmpty() ? "" : PREFIX + key.get().seal(plain.getBytes(StandardCharsets.UTF_8), purpose(owner));
    }

    /// Decrypts an environment. With another master key it is lost, and the result is empty.
    public Map<String, String> open(String owner, String text) {
        if (!text.startsWith(PREFIX)) {
            return EnvText.decode(text);
        }
        try {
            byte[] plain = key.get().open(text.substring(PREFIX.length()), purpose(owner));
            return EnvText.decode(new String(plain, StandardCharsets.UTF_8));
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            LOG.warn("cannot decrypt the environment of {} with home/master.key; its commands run without it", owner);
            return Map.of();
        }
    }

    /// Encrypts the environments that an earlier version stored in the clear, and deletes those of ended sandboxes.
    static void sealAll(Sql sql, Supplier<MasterKey> key) throws SQLException {
        var sealed = new SealedEnv(key);
        sql.update("update sandboxes set env = '' where ended_at is not null and env <> ''");
        Map<String, String> plain = sql.map(
                "select id, env from sandboxes where env <> '' and env not like '" + PREFIX + "%'",
                row -> row.getString(1),
                row -> row.getString(2));
        for (var entry : plain.entrySet()) {
            sql.update(
                    "update sandboxes set env = ? where id = ?",
                    sealed.seal(entry.getKey(), entry.getValue()),
                    entry.getKey());
        }
    }

    private static String purpose(String owner) {
        return "environment " + owner;
    }
}
