package dev.vivarium.sdk.http;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.http.HttpResponse;
import java.util.Optional;

/// Response of either HTTP client of the JDK. Confined to one thread.
sealed interface RawResponse {
    int status();

    Optional<String> header(String name);

    /// Returns the body as a stream, for any status.
    InputStream body() throws IOException;

    /// Closes the connection.
    void disconnect();

    record ByConnection(HttpURLConnection call, int status) implements RawResponse {
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
        public void disconnect() {
            call.disconnect();
        }
    }

    record ByClient(HttpResponse<InputStream> response, InputStream body) implements RawResponse {
        @Override
        public int status() {
            return response.statusCode();
        }

        @Override
        public Optional<String> header(String name) {
            return response.headers().firstValue(name);
        }

        @Override
        public void disconnect() {
            // Closing the body closes the connection.
        }
    }
}
