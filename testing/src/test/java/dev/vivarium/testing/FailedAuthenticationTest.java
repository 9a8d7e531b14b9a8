package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/// Delays of failed authentications at a real server.
class FailedAuthenticationTest {
    @Test
    void failuresAreDelayedAndAValidKeyOfTheSameAddressIsNot() {
        try (var server = TestServer.start("--auth-failure-delay-seconds", "60");
                var http = HttpClient.newHttpClient()) {
            List<CompletableFuture<HttpResponse<Void>>> failures = new ArrayList<>();
            for (int i = 0; i < 60; i++) {
                failures.add(http.sendAsync(request(server, "wrong" + i), HttpResponse.BodyHandlers.discarding()));
            }
            int first = CompletableFuture.anyOf(failures.toArray(CompletableFuture[]::new))
                    .thenApply(answer -> ((HttpResponse<?>) answer).statusCode())
                    .join();

            assertThat(first).isEqualTo(401);
            assertThat(server.api().get("/api/v1/node").status()).isEqualTo(200);
            assertThat(failures).filteredOn(failure -> !failure.isDone()).hasSizeGreaterThan(20);
            http.shutdownNow();
        }
    }

    private static HttpRequest request(TestServer server, String key) {
        return HttpRequest.newBuilder(server.uri().resolve("/api/v1/node"))
                .header("X-API-Key", key)
                .build();
    }
}
