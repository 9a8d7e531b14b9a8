package dev.vivarium.core.webhook;

import dev.vivarium.core.store.Sql;
import dev.vivarium.model.DeliveryId;
import dev.vivarium.model.Event;
import dev.vivarium.model.ListPlace;
import dev.vivarium.model.LogId;
import dev.vivarium.model.TextEnum;
import dev.vivarium.model.WebhookDelivery;
import dev.vivarium.model.WebhookId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Rows of deliveries. Stateless; each method runs in the transaction of the caller. `next_attempt_at` is present while
/// a delivery is pending.
final class DeliveryRows {
    private DeliveryRows() {}

    /// Stores a delivery of an event, once for each webhook.
    static void insert(Sql sql, Delivery delivery, Event event, Instant now) throws SQLException {
        sql.update(
                "insert into webhook_deliveries (delivery_id, webhook_id, log_id, seq, event_id, event_type, body,"
                        + " status, attempts, next_attempt_at, created_at)"
                        + " values (?, ?, ?, ?, ?, ?, ?, 'pending', 0, ?, ?) on conflict do nothing",
                delivery.id().value(),
                delivery.webhook().value(),
                event.logId().value(),
                event.seq(),
                event.id(),
                event.type(),
                delivery.body(),
                now.toEpochMilli(),
                now.toEpochMilli());
    }

    static int pending(Sql sql, WebhookId webhook) throws SQLException {
        return (int) sql.number(
                "select count(*) from webhook_deliveries where webhook_id = ? and next_attempt_at is not null",
                webhook.value());
    }

    /// Returns the time of the next attempt of each webhook with pending deliveries.
    static Map<WebhookId, Instant> next(Sql sql) throws SQLException {
        return sql.map(
                "select webhook_id, min(next_attempt_at) from webhook_deliveries where next_attempt_at is not null"
                        + " group by webhook_id",
                row -> new WebhookId(row.getString(1)),
                row -> Instant.ofEpochMilli(row.getLong(2)));
    }

    /// Moves attempts that are further in the future than any pause. The clock was set back since.
    static void limitNextAttempt(Sql sql, Instant now, Duration longest) throws SQLException {
        sql.update(
                "update webhook_deliveries set next_attempt_at = ? where next_attempt_at > ?",
                now.toEpochMilli(),
                now.plus(longest).toEpochMilli());
    }

    /// Returns the first deliveries of a webhook that are due.
    static List<Delivery> due(Sql sql, WebhookId webhook, Instant now, int limit) throws SQLException {
        return sql.list(
                "select * from webhook_deliveries where webhook_id = ? and next_attempt_at <= ?"
                        + " order by next_attempt_at, created_at limit ?",
                row -> new Delivery(
                        new DeliveryId(row.getString("delivery_id")),
                        webhook,
                        LogId.of(row.getString("log_id")),
                        row.getString("event_type"),
                        row.getString("body"),
                        row.getInt("attempts")),
                webhook.value(),
                now.toEpochMilli(),
                limit);
    }

    /// Stores the outcome of an attempt, unless a client has replayed or deleted the delivery meanwhile. Reports
    /// whether it was stored.
    ///
    /// @param next time of the next attempt; empty if the delivery ends with this attempt
    static boolean attempted(Sql sql, Delivery delivery, PostResult result, Instant now, Optional<Instant> next)
            throws SQLException {
        boolean isOver = result.isDelivered() || next.isEmpty();
        var status = result.isDelivered()
                ? WebhookDelivery.Status.DELIVERED
                : isOver ? WebhookDelivery.Status.DEAD : WebhookDelivery.Status.PENDING;
        return sql.update(
                        "update webhook_deliveries set status = ?, attempts = attempts + 1, next_attempt_at = ?,"
                                + " response_status = ?, error = ?, ended_at = ? where delivery_id = ?"
                                + " and attempts = ? and next_attempt_at is not null",
                        status.text(),
                        isOver ? null : next.get().toEpochMilli(),
                        result.status().orElse(null),
                        result.error().orElse(null),
                        isOver ? now.toEpochMilli() : null,
                        delivery.id().value(),
                        delivery.attempts())
                == 1;
    }

    /// Makes a delivery due again, from its first attempt. Reports whether the webhook has the delivery.
    static boolean replay(Sql sql, WebhookId webhook, DeliveryId id, Instant now) throws SQLException {
        return sql.update(
                        "update webhook_deliveries set status = 'pending', attempts = 0, next_attempt_at = ?,"
                                + " ended_at = null where webhook_id = ? and delivery_id = ?",
                        now.toEpochMilli(),
                        webhook.value(),
                        id.value())
                == 1;
    }

    static Optional<WebhookDelivery> find(Sql sql, WebhookId webhook, DeliveryId id) throws SQLException {
        return sql.first(
                "select * from webhook_deliveries where webhook_id = ? and delivery_id = ?",
                DeliveryRows::read,
                webhook.value(),
                id.value());
    }

    /// Returns the newest deliveries of a webhook, with a status and before a place if given.
    static List<WebhookDelivery> list(Sql sql, WebhookId webhook, DeliveryFilter filter) throws SQLException {
        @Nullable
        String status = filter.status().map(WebhookDelivery.Status::text).orElse(null);
        long millis = filter.before().map(ListPlace::millis).orElse(Long.MAX_VALUE);
        String id = filter.before().map(ListPlace::id).orElse("");
        return sql.list(
                "select * from webhook_deliveries where webhook_id = ? and (cast(? as text) is null or status = ?)"
                        + " and (created_at < ? or created_at = ? and delivery_id < ?)"
                        + " order by created_at desc, delivery_id desc limit ?",
                DeliveryRows::read,
                webhook.value(),
                status,
                status,
                millis,
                millis,
                id,
                filter.limit());
    }

    /// Deletes the deliveries that ended before a time. Returns their number.
    static int prune(Sql sql, Instant before) throws SQLException {
        return sql.update("delete from webhook_deliveries where ended_at < ?", before.toEpochMilli());
    }

    private static WebhookDelivery read(ResultSet row) throws SQLException {
        return new WebhookDelivery(
                new DeliveryId(row.getString("delivery_id")),
                new WebhookId(row.getString("webhook_id")),
                row.getString("event_id"),
                row.getString("event_type"),
                TextEnum.of(WebhookDelivery.Status.class, row.getString("status")),
                row.getInt("attempts"),
                time(row.getLong("next_attempt_at")),
                Optional.of(row.getInt("response_status")).filter(status -> status > 0),
                Optional.ofNullable(row.getString("error")),
                Instant.ofEpochMilli(row.getLong("created_at")),
                time(row.getLong("ended_at")));
    }

    private static Optional<Instant> time(long millis) {
        return millis == 0 ? Optional.empty() : Optional.of(Instant.ofEpochMilli(millis));
    }
}
