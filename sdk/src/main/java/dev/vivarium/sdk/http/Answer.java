package dev.vivarium.sdk.http;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.json.ProblemJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.ByteArrayInputStream;
import java.net.URI;
import java.util.function.Function;

/// What a server said to a call that does not stream: a status, a type and a whole body. Immutable.
@SuppressWarnings("ArrayRecordComponent") // Read once by its receiver, compared by nobody.
public record Answer(URI server, int status, String contentType, byte[] body) {
    private static final int LAST_SUCCESS = 299;

    /// Reports whether the body describes a failure.
    public boolean isProblem() {
        return contentType.startsWith(ProblemJson.CONTENT_TYPE);
    }

    /// The failure that this answer carries. Something between us and the server, a proxy say, may have
    /// written it; then
    /// only the status is to be trusted.
    SandboxException failure() {
        Failure failure;
        try {
            failure = ProblemJson.read(fields());
        } catch (SandboxException _) {
            failure =
                    ProblemJson.unrecognized("http-" + status, status, server + " answered with HTTP status " + status);
        }
        return new SandboxException(failure);
    }

    /// Throws the failure if it is one.
    public void requireSuccess() {
        if (status > LAST_SUCCESS || isProblem()) {
            throw failure();
        }
    }

    /// The body of a success, read by `codec`; anything else is thrown.
    public <T> T read(Function<JsonFields, T> codec) {
        requireSuccess();
        return decode(codec);
    }

    /// The body, whatever the status.
    public <T> T decode(Function<JsonFields, T> codec) {
        try {
            return codec.apply(fields());
        } catch (SandboxException e) {
            throw new SandboxException(
                    ProblemJson.unrecognized(
                            "bad-answer",
                            status,
                            server + " does not answer like a Vivarium server; check the address and the versions"),
                    e);
        }
    }

    private JsonFields fields() {
        return Json.answer(new ByteArrayInputStream(body));
    }
}
