package dev.vivarium.json;

import static dev.vivarium.json.IdTypes.USER_ID;
import static dev.vivarium.json.JsonType.LONG;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.TIME;
import static dev.vivarium.json.JsonType.constants;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;

import dev.vivarium.model.Alert;
import dev.vivarium.model.Alert.Severity;
import dev.vivarium.model.Event;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// JSON form of alerts, and the alerts that events mean. Stateless.
public final class AlertJson {
    public static final JsonType<Severity> SEVERITY =
            constants(Severity.class, Severity::text, "must be info, warning or critical");

    public static final ObjectType<Alert> ALERT = object(
            "Alert",
            field("alert_id", STRING, Alert::id),
            field("user_id", USER_ID, "The owner of the sandbox or the task.", Alert::owner),
            field("at", TIME, Alert::at),
            field(
                    "type",
                    STRING,
                    "The type of the event.",
                    alert -> alert.notice().type()),
            field("severity", SEVERITY, alert -> alert.notice().severity()),
            field("title", STRING, alert -> alert.notice().title()),
            field("detail", STRING, alert -> alert.notice().detail()),
            optional("sandbox_id", STRING, alert -> alert.notice().sandbox()),
            optional("run_id", STRING, alert -> alert.notice().run()),
            optional("task_id", STRING, alert -> alert.notice().task()),
            field(
                    "log",
                    STRING,
                    "The log with the event.",
                    alert -> alert.logId().value()),
            field("seq", LONG, "The number of the event in its log.", Alert::seq),
            optional("acknowledged_by", USER_ID, alert -> alert.acknowledged().map(Alert.Acknowledgement::by)),
            optional("acknowledged_at", TIME, alert -> alert.acknowledged().map(Alert.Acknowledgement::at)));

    private static final String TASK_FAILED = "task.failed";
    private static final String CONDUCTOR = "conductor.report";
    private static final String ANOMALY = "anomaly.detected";
    private static final String WEBHOOK = "webhook.dead";

    private record Kind(Severity severity, String title) {}

    private static final Map<String, Kind> KINDS = Map.ofEntries(
            Map.entry("workflow.stuck", new Kind(Severity.CRITICAL, "A workflow is stuck")),
            Map.entry(CONDUCTOR, new Kind(Severity.WARNING, "Runs overlap or conflict")),
            Map.entry(ANOMALY, new Kind(Severity.WARNING, "An unusual figure")),
            Map.entry("guardian.stopped", new Kind(Severity.CRITICAL, "The guardian stopped a run")),
            Map.entry("guardian.paused", new Kind(Severity.WARNING, "The guardian paused a run")),
            Map.entry("sandbox.terminated_idle", new Kind(Severity.WARNING, "An idle sandbox was ended")),
            Map.entry("sandbox.quarantined", new Kind(Severity.CRITICAL, "A sandbox is in quarantine")),
            Map.entry(TASK_FAILED, new Kind(Severity.WARNING, "A task failed")),
            Map.entry(WEBHOOK, new Kind(Severity.WARNING, "A webhook could not be delivered")),
            Map.entry("sandbox.review_expired", new Kind(Severity.WARNING, "A review was not answered in time")),
            Map.entry("review.escalated", new Kind(Severity.CRITICAL, "A review needs an answer")));

    /// Fields with an explanation, the best first.
    private static final List<String> REASONS = List.of("reason", "detail", "message", "summary", "error");

    /// Fields of a report of the conductor that list what it found.
    private static final List<String> FINDINGS = List.of("findings", "overlaps");

    /// Types of the events that may be alerts.
    public static final Set<String> TYPES = KINDS.keySet();

    private AlertJson() {}

    /// Returns the alert that an event means, if it is one. Fields of another type are ignored.
    public static Optional<Alert.Notice> notice(Event event) {
        Kind kind = KINDS.get(event.type());
        if (kind == null) {
            return Optional.empty();
        }
        JsonFields data = Json.answer(event.data());
        if (event.type().equals(CONDUCTOR)
                && FINDINGS.stream().allMatch(name -> data.findObjects(name).isEmpty())) {
            return Optional.empty();
        }
        return Optional.of(new Alert.Notice(
                event.type(),
                kind.severity,
                title(event.type(), kind, data),
                detail(event.type(), data),
                event.sandbox().map(SandboxId::value).or(() -> text(data, "sandbox_id")),
                text(data, "run_id"),
                text(data, "task_id")));
    }

    private static String title(String type, Kind kind, JsonFields data) {
        return switch (type) {
            case TASK_FAILED -> "Task failed: " + text(data, "title").orElse("");
            case ANOMALY -> "Unusual " + text(data, "metric").orElse("figure").replace('_', ' ');
            default -> kind.title;
        };
    }

    private static String detail(String type, JsonFields data) {
        return switch (type) {
            case ANOMALY ->
                "%s: %s, usually %s (%s standard deviations)"
                        .formatted(
                                text(data, "scope").orElse(""),
                                number(data, "value"),
                                number(data, "baseline"),
                                number(data, "deviation"));
            case WEBHOOK ->
                text(data, "webhook_id").orElse("") + ": " + text(data, "error").orElse("");
            default ->
                REASONS.stream()
                        .flatMap(name -> text(data, name).stream())
                        .findFirst()
                        .or(() -> text(data, "review_id"))
                        .orElse("");
        };
    }

    private static Optional<String> text(JsonFields data, String name) {
        try {
            return data.optionalString(name);
        } catch (SandboxException e) {
            return Optional.empty();
        }
    }

    private static String number(JsonFields data, String name) {
        try {
            double number = data.number(name);
            return number == Math.rint(number) && Math.abs(number) < 1e15
                    ? String.valueOf((long) number)
                    : String.valueOf(number);
        } catch (SandboxException e) {
            return "?";
        }
    }
}
