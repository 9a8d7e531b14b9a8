package dev.vivarium.cli;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.AdminClient;
import dev.vivarium.sdk.SandboxClient;
import dev.vivarium.sdk.http.RemoteConfig;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Which server, as whom. An option wins over the environment, which wins over what the server wrote on this machine.
final class ServerOptions {
    private static final String DEFAULT_SERVER = "http://127.0.0.1:8000";

    private static final Set<String> HERE = Set.of("127.0.0.1", "localhost", "[::1]");

    @Option(
            names = "--server",
            paramLabel = "URL",
            description = "The server (VIV_SERVER; else " + DEFAULT_SERVER + ").")
    private @Nullable String server;

    @Option(
            names = "--key",
            paramLabel = "KEY",
            description = "The API key (VIV_API_KEY; else the one in $VIV_HOME/credentials). Others on this machine can"
                    + " see options: prefer the environment.")
    private @Nullable String key;

    SandboxClient client(Map<String, String> env) {
        return SandboxClient.remote(config(env));
    }

    AdminClient admin(Map<String, String> env) {
        return AdminClient.remote(config(env));
    }

    /// Without a key, for what is open to all.
    AdminClient anonymous(Map<String, String> env) {
        return AdminClient.remote(RemoteConfig.of(server(env), key(env).orElse("none")));
    }

    private RemoteConfig config(Map<String, String> env) {
        return RemoteConfig.of(server(env), key(env).orElseThrow(() -> noKey(env)));
    }

    private URI server(Map<String, String> env) {
        String address = given(server, env, "VIV_SERVER").orElse(DEFAULT_SERVER);
        try {
            return URI.create(address);
        } catch (IllegalArgumentException e) {
            throw new SandboxException(
                    new Failure.InvalidRequest("--server", "must be an address like " + DEFAULT_SERVER), e);
        }
    }

    /// What a server on this machine wrote here is for that server alone: it never goes to another one.
    private Optional<String> key(Map<String, String> env) {
        return given(key, env, "VIV_API_KEY")
                .or(() -> isHere(server(env)) ? written(credentials(env)) : Optional.empty());
    }

    private static boolean isHere(URI server) {
        return HERE.contains(String.valueOf(server.getHost()));
    }

    private static Optional<String> given(@Nullable String option, Map<String, String> env, String variable) {
        return Optional.ofNullable(option).or(() -> Optional.ofNullable(env.get(variable)));
    }

    private static Optional<String> written(Path file) {
        try {
            return Files.isReadable(file) ? Optional.of(Files.readString(file).strip()) : Optional.empty();
        } catch (IOException _) {
            return Optional.empty(); // Gone since, or not text: as good as not there.
        }
    }

    private static Path credentials(Map<String, String> env) {
        String home = env.get("VIV_HOME");
        Path directory = home == null ? Path.of(System.getProperty("user.home"), ".vivarium") : Path.of(home);
        return directory.resolve("credentials");
    }

    private static SandboxException noKey(Map<String, String> env) {
        return new SandboxException(new Failure.NotAuthenticated(
                "no API key: set VIV_API_KEY or give --key (" + credentials(env) + " is not there or not readable)"));
    }
}
