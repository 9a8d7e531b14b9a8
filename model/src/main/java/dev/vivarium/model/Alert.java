package dev.vivarium.model;

import java.time.Instant;
import java.util.Optional;

/// Notice for people about an event that may need them. Immutable.
///
/// @param number        position in the list of all alerts
/// @param owner         user whose sandbox or tasks the alert is about
/// @param logId         log with the event
/// @param seq           number of the event in its log
/// @param acknowledged  present after somebody acknowledged the alert
public record Alert(
        long number,
        UserId owner,
        Instant at,
        Notice notice,
        LogId logId,
        long seq,
        Optional<Acknowledgement> acknowledged) {
    private static final String PREFIX = "alr";

    /// Importance of an alert.
    public enum Severity implements TextEnum {
        INFO,
        WARNING,
        CRITICAL
    }

    /// Content of an alert.
    ///
    /// @param type   type of the event
    /// @param title  one line
    /// @param detail more text, or empty
    public record Notice(
            String type,
            Severity severity,
            String title,
            String detail,
            Optional<String> sandbox,
            Optional<String> run,
            Optional<String> task) {}

    /// User who acknowledged an alert, and the time.
    public record Acknowledgement(UserId by, Instant at) {}

    /// Returns the id for clients.
    public String id() {
        return idOf(number);
    }

    public static String idOf(long number) {
        return PREFIX + number;
    }

    /// Returns the position that an id means.
    public static Optional<Long> numberOf(String id) {
        return id.matches(PREFIX + "[0-9]{1,18}")
                ? Optional.of(Long.parseLong(id.substring(PREFIX.length())))
                : Optional.empty();
    }
}
