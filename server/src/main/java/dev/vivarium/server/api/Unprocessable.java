package dev.vivarium.server.api;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;

/// What agents and their workers send is refused with 422, whatever is wrong with it. Stateless.
final class Unprocessable {
    private Unprocessable() {}

    /// Reads a request.
    interface Reading<T> {
        T read() throws IOException;
    }

    static <T> T unless(Reading<T> reading) throws IOException {
        try {
            return reading.read();
        } catch (SandboxException e) {
            if (e.failure() instanceof Failure.InvalidRequest(var field, var rule)) {
                throw new SandboxException(new Failure.Unprocessable(field, rule), e);
            }
            throw e;
        }
    }
}
