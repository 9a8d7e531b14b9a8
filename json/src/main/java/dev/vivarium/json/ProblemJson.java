package dev.vivarium.json;

import static dev.vivarium.json.JsonType.INT;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.ObjectType.field;

import dev.vivarium.model.Failure;
import tools.jackson.core.JsonGenerator;

/// Codec between a [Failure] and an RFC 9457 problem: the HTTP status, the members, and the same value again on the
/// client. Stateless.
///
/// To add a failure, extend the switches of [ProblemStatus] and [ProblemFields], which do not compile without it, and
/// [ProblemReader]. The round-trip test fails until the reader accepts its slug.
public final class ProblemJson {
    /// The media type of every error.
    public static final String CONTENT_TYPE = "application/problem+json";

    /// Description of a problem. The members of the failure follow the fields.
    public static final ObjectType<Failure> PROBLEM = ObjectType.<Failure>object(
                    "Problem",
                    field("error", STRING, "One sentence for people."),
                    field("type", STRING.with("pattern", "^urn:vivarium:problem:[a-z-]+$"), "The name of the failure."),
                    field("title", STRING),
                    field("status", INT.range(400, 599)),
                    field("detail", STRING))
            .with("description", """
                    A problem of RFC 9457. It also has the fields of the failure, such as `session_id`, `field` and \
                    `rule`, or `max_size_mb`.""");

    private static final String TYPE = "urn:vivarium:problem:";
    private static final String INVALID_SESSION = "Invalid or expired session";
    private static final String NO_SESSION = "No active session found for thread_id";

    private ProblemJson() {}

    public static int status(Failure failure) {
        return ProblemStatus.of(failure);
    }

    /// Writes the members of the problem: `error` for people, those of RFC 9457, and the fields of the failure.
    public static void write(JsonGenerator out, Failure failure) {
        write(out, failure, status(failure));
    }

    /// Writes the problem with a status that the route has chosen.
    public static void write(JsonGenerator out, Failure failure, int status) {
        out.writeStringProperty("error", error(failure));
        out.writeStringProperty("type", TYPE + failure.slug());
        out.writeStringProperty("title", title(failure.slug()));
        out.writeNumberProperty("status", status);
        out.writeStringProperty("detail", failure.sentence());
        ProblemFields.write(out, failure);
    }

    /// Reads the failure that a server wrote. A failure that this version does not know, or whose fields it does
    /// not know, becomes [Failure.Unrecognized] with the slug, status and detail.
    public static Failure read(JsonFields fields) {
        String type = fields.optionalString("type").orElse("");
        String slug = type.startsWith(TYPE) ? type.substring(TYPE.length()) : "unrecognized";
        return ProblemReader.read(slug, fields);
    }

    /// Failure of a client whose server sent something else than a problem: the error page of a proxy, or the close
    /// code of a WebSocket.
    public static Failure unrecognized(String slug, int status, String detail) {
        return new Failure.Unrecognized(slug, status, detail);
    }

    /// Returns a sentence that clients may compare. The session and its end are in `detail`.
    private static String error(Failure failure) {
        return switch (failure) {
            case Failure.NoSuchSandbox _ -> INVALID_SESSION;
            case Failure.NoSandboxForThread _ -> NO_SESSION;
            default -> failure.sentence();
        };
    }

    private static String title(String slug) {
        String words = slug.replace('-', ' ');
        return Character.toUpperCase(words.charAt(0)) + words.substring(1);
    }
}
