package dev.vivarium.sdk.http;

import dev.vivarium.sdk.http.Transport.Body;
import java.io.IOException;
import java.net.URI;
import java.util.Map;

/// HTTP client that sends the requests of a [Transport]. Thread-safe.
interface Sender {
    /// Sends a request and waits for the status line.
    RawResponse send(String method, URI address, Map<String, String> headers, Body body) throws IOException;
}
