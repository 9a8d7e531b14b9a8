package dev.vivarium.model;

import static dev.vivarium.model.Failure.InvalidRequest.require;
import static dev.vivarium.model.Failure.InvalidRequest.requireBytes;

import java.util.Optional;
import java.util.regex.Pattern;

/// Event to append to the log of a sandbox. If it has an `id`, the log stores it once, however often it is sent.
/// Immutable.
///
/// @param source the author: `agent`, `worker`, `system`, …
/// @param task the task of the worker that sends the event; empty if no worker sends it
public record NewEvent(Optional<String> id, EventBody body, String source, Optional<TaskId> task) {
    public static final int LONGEST_DATA = 100 * 1024;

    /// The source of events that the server itself appends.
    public static final String OURS = "sandbox";

    /// The source of events that the server appends for the kernel.
    public static final String KERNEL = "kernel";

    /// Prefix of ids that only the server assigns.
    public static final String OUR_IDS = "sandbox:";

    private static final int MAX_SOURCE = 100;
    private static final Pattern TYPE = Pattern.compile("[a-zA-Z0-9_.]{1,100}");
    private static final Pattern ID = Pattern.compile("[\\x21-\\x7e]{1,100}");
    private static final Pattern SOURCE = Pattern.compile("[a-zA-Z0-9_.:@-]{1,100}");

    public NewEvent {
        require(
                TYPE.matcher(body.type()).matches(),
                "event_type",
                "must be 1 to 100 characters of a-z, A-Z, 0-9, '_' and '.'");
        require(
                id.map(text -> ID.matcher(text).matches()).orElse(true),
                "event_id",
                "must be 1 to 100 printable characters without a space");
        requireSource(source);
        if (body instanceof EventBody.Custom(var _, String data)) {
            requireLength(data);
        }
    }

    /// An event that no worker sends.
    public NewEvent(Optional<String> id, EventBody body, String source) {
        this(id, body, source, Optional.empty());
    }

    /// An event as text.
    public NewEvent(Optional<String> id, String type, String data, String source) {
        this(id, new EventBody.Custom(type, data), source);
    }

    /// An event without an id.
    public static NewEvent of(EventBody body, String source) {
        return new NewEvent(Optional.empty(), body, source);
    }

    /// An event as text, without an id.
    public static NewEvent of(String type, String data, String source) {
        return of(new EventBody.Custom(type, data), source);
    }

    /// Returns the same event, sent by the worker of a task.
    public NewEvent from(TaskId worker) {
        return new NewEvent(id, body, source, Optional.of(worker));
    }

    public String type() {
        return body.type();
    }

    /// Returns the data as JSON. Fails with `InvalidRequest` if it is longer than [#LONGEST_DATA].
    public String data(EventCodec codec) {
        String data = codec.encode(body);
        requireLength(data);
        return data;
    }

    /// Returns a source made from a name. Characters that a source cannot have become `_`.
    public static String sourceOf(String name) {
        String plain = name.replaceAll("[^a-zA-Z0-9_.:@-]", "_");
        return plain.isEmpty() ? "user" : plain.substring(0, Math.min(plain.length(), MAX_SOURCE));
    }

    static void requireSource(String source) {
        require(SOURCE.matcher(source).matches(), "source", "must be 1 to 100 characters of a-z, A-Z, 0-9 and '_.:@-'");
    }

    private static void requireLength(String data) {
        requireBytes(data, "event_data", LONGEST_DATA);
    }
}
