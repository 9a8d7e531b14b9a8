package dev.vivarium.sdk.http;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.json.ProblemJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.ByteArrayInputStream;
import java.net.URI;
import java.util.function.Function;

/// Complete response of a server: status, media type and body. Immutable.
@SuppressWarnings("ArrayRecordComponent") // Read once by its receiver, compared by nobody.
public record Answer(URI server, int status, String contentType, byte[] body) {
    private static final int LAST_SUCCESS = 299;

    /// Reports whether the response is a failure.
    public boolean isProblem() {
        return contentType.startsWith(ProblemJson.CONTENT_TYPE);
    }

    /// Returns the failure of this response. If a proxy wrote it, only the status is reliable.
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

    /// Throws the failure, if this response is one.
    public void requireSuccess() {
        if (status > LAST_SUCCESS || isProblem()) {
            throw failure();
        }
    }

    /// Decodes the body of a success with `codec`. Otherwise throws the failure.
    public <T> T read(Function<JsonFields, T> codec) {
        requireSuccess();
        return decode(codec);
    }

    /// Returns the body for any status.
    public <T> T decode(Function<JsonFields, T> codec) {
        try {
            return codec.apply(fields());
        } catch (SandboxException e) {
            throw new SandboxException(
                    ProblemJson.unrecognized(
                            "bad-answer",
                            status,
                            server + " did not send a valid response of this API; check the address and the versions"),
                    e);
        }
    }

    private JsonFields fields() {
        return Json.answer(new ByteArrayInputStream(body));
    }
}
