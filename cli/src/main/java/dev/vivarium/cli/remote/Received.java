package dev.vivarium.cli.remote;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.http.HttpResponse;
import java.util.Optional;

/// What came back from either of the JDK's clients. Confined to the worker that reads it.
sealed interface Received {
    int status();

    Optional<String> header(String name);

    /// The bytes as they come, whatever the status.
    InputStream body() throws IOException;

    /// Waits for nothing any more.
    void hangUp();

    /// By the older client.
    record ByConnection(HttpURLConnection call, int status) implements Received {
        private static final int FIRST_FAILURE = 400;

        @Override
        public Optional<String> header(String name) {
            return Optional.ofNullable(call.getHeaderField(name));
        }

        @Override
        public InputStream body() throws IOException {
            InputStream bytes = status >= FIRST_FAILURE ? call.getErrorStream() : call.getInputStream();
            return bytes == null ? InputStream.nullInputStream() : bytes;
        }

        @Override
        public void hangUp() {
            call.disconnect();
        }
    }

    /// By the newer client.
    record ByClient(HttpResponse<InputStream> response) implements Received {
        @Override
        public int status() {
            return response.statusCode();
        }

        @Override
        public Optional<String> header(String name) {
            return response.headers().firstValue(name);
        }

        @Override
        public InputStream body() {
            return response.body();
        }

        @Override
        public void hangUp() {
            // Closing the body did it.
        }
    }
}
