package dev.vivarium.sdk.http;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.net.URI;
import java.time.Duration;

/// Address, key and timeouts of a server. Immutable.
///
/// @param server  address, for example `http://127.0.0.1:8000`
/// @param apiKey  sent with every call; [#toString] omits it
/// @param connect timeout of a connection
/// @param answer  timeout of a response, in addition to the timeout of a command
/// @param silence timeout without data within a body
public record RemoteConfig(URI server, String apiKey, Duration connect, Duration answer, Duration silence) {
    public RemoteConfig {
        if (server.getHost() == null || !("http".equals(server.getScheme()) || "https".equals(server.getScheme()))) {
            throw new SandboxException(
                    new Failure.InvalidRequest("server", "must be an address like http://127.0.0.1:8000"));
        }
        if (apiKey.isBlank() || !apiKey.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
            throw new SandboxException(
                    new Failure.InvalidRequest("api key", "must be printable characters without a space"));
        }
    }

    public static RemoteConfig of(URI server, String apiKey) {
        return new RemoteConfig(server, apiKey, Duration.ofSeconds(10), Duration.ofSeconds(30), Duration.ofSeconds(60));
    }

    public RemoteConfig withConnect(Duration wanted) {
        return new RemoteConfig(server, apiKey, wanted, answer, silence);
    }

    public RemoteConfig withAnswer(Duration wanted) {
        return new RemoteConfig(server, apiKey, connect, wanted, silence);
    }

    public RemoteConfig withSilence(Duration wanted) {
        return new RemoteConfig(server, apiKey, connect, answer, wanted);
    }

    @Override
    public String toString() {
        return "RemoteConfig[" + server + "]";
    }
}
