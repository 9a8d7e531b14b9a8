package dev.vivarium.sdk;

import dev.vivarium.json.JsonFields;
import dev.vivarium.model.TextEnum;
import dev.vivarium.sdk.http.Transport;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/// Alerts: events that may need a person. Thread-safe.
public final class Alerts {
    private static final String PATH = "/api/v1/alerts";

    private final Transport transport;

    Alerts(Transport transport) {
        this.transport = transport;
    }

    /// Importance of an alert.
    public enum Severity implements TextEnum {
        INFO,
        WARNING,
        CRITICAL
    }

    /// An alert as the server sent it. Immutable.
    ///
    /// @param type           the type of the event
    /// @param severity       the text of a [Severity], or of one that this version does not know
    /// @param acknowledgedAt absent until somebody acknowledges the alert
    /// @param json           the object that the server sent, with the members that this version does not know
    public record AlertRecord(
            String id,
            Instant at,
            String type,
            String severity,
            String title,
            String detail,
            Optional<String> sandbox,
            Optional<String> run,
            Optional<String> task,
            Optional<Instant> acknowledgedAt,
            String json) {
        private static AlertRecord read(JsonFields fields) {
            return new AlertRecord(
                    fields.string("alert_id"),
                    fields.time("at"),
                    fields.string("type"),
                    fields.string("severity"),
                    fields.string("title"),
                    fields.optionalString("detail").orElse(""),
                    fields.optionalString("sandbox_id"),
                    fields.optionalString("run_id"),
                    fields.optionalString("task_id"),
                    fields.optionalTime("acknowledged_at"),
                    fields.text());
        }
    }

    /// Selection of alerts. Immutable.
    ///
    /// @param after only alerts after the one with this id
    /// @param limit maximum number of alerts
    public record Filter(Optional<String> after, Optional<Severity> severity, int limit) {
        private String query() {
            return "?limit=" + limit
                    + after.map(id -> "&after=" + Transport.segment(id)).orElse("")
                    + severity.map(wanted -> "&severity=" + wanted.text()).orElse("");
        }
    }

    /// A page of alerts in the order of the server.
    public List<AlertRecord> list(Filter filter) {
        return transport.get(
                PATH + filter.query(),
                fields ->
                        fields.objects("alerts").stream().map(AlertRecord::read).toList());
    }

    /// Marks an alert as seen.
    public AlertRecord acknowledge(String alert) {
        return transport.post(PATH + "/" + Transport.segment(alert) + "/acknowledge", out -> {}, AlertRecord::read);
    }
}
