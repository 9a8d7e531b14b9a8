package dev.vivarium.core.webhook;

import dev.vivarium.core.run.TextListColumn;
import dev.vivarium.core.store.Sql;
import dev.vivarium.model.NewWebhook;
import dev.vivarium.model.TextEnum;
import dev.vivarium.model.UserId;
import dev.vivarium.model.Webhook;
import dev.vivarium.model.WebhookId;
import java.net.URI;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Rows of webhooks. Stateless; each method runs in the transaction of the caller.
final class WebhookRows {
    private WebhookRows() {}

    static void insert(Sql sql, Webhook webhook, String sealedSecret) throws SQLException {
        sql.update(
                "insert into webhooks (webhook_id, user_id, url, event_types, format, secret, created_at)"
                        + " values (?, ?, ?, ?, ?, ?, ?)",
                webhook.id().value(),
                webhook.user().map(UserId::value).orElse(null),
                webhook.wanted().url().toString(),
                TextListColumn.encode(webhook.wanted().eventTypes()),
                webhook.wanted().format().text(),
                sealedSecret,
                webhook.createdAt().toEpochMilli());
    }

    static List<Webhook> all(Sql sql) throws SQLException {
        return sql.list("select * from webhooks order by created_at, webhook_id", WebhookRows::read);
    }

    static int count(Sql sql, Optional<UserId> user) throws SQLException {
        @Nullable String name = user.map(UserId::value).orElse(null);
        return (int) sql.number(
                "select count(*) from webhooks where user_id = ? or (user_id is null and cast(? as text) is null)",
                name,
                name);
    }

    /// Returns the encrypted secret of a webhook.
    static Optional<String> secret(Sql sql, WebhookId id) throws SQLException {
        return sql.first("select secret from webhooks where webhook_id = ?", row -> row.getString(1), id.value());
    }

    static void delete(Sql sql, WebhookId id) throws SQLException {
        sql.update("delete from webhooks where webhook_id = ?", id.value());
        sql.update("delete from webhook_deliveries where webhook_id = ?", id.value());
    }

    private static Webhook read(ResultSet row) throws SQLException {
        return new Webhook(
                new WebhookId(row.getString("webhook_id")),
                Optional.ofNullable(row.getString("user_id")).map(UserId::new),
                new NewWebhook(
                        URI.create(row.getString("url")),
                        TextListColumn.decode(row.getString("event_types")),
                        TextEnum.of(NewWebhook.Format.class, row.getString("format"))),
                Instant.ofEpochMilli(row.getLong("created_at")));
    }
}
