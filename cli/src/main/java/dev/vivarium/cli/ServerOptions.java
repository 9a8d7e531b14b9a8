package dev.vivarium.cli;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Options for server and user. Order of precedence: option, environment, profile, credentials of a local server. No
/// option takes a key, because every user of the machine can read arguments.
final class ServerOptions {
    static final String DEFAULT_SERVER = "http://127.0.0.1:8000";

    private static final Set<String> LOCAL_HOSTS = Set.of("127.0.0.1", "localhost", "[::1]");
    private static final Pattern LOCAL_ADDRESS =
            Pattern.compile("https?://(127\\.0\\.0\\.1|localhost|\\[::1]):[0-9]{1,5}");

    @Option(
            names = "--server",
            paramLabel = "URL",
            description = "Server (default: VIV_SERVER, the profile, or the server of this machine by VIV_PORT and"
                    + " VIV_HOME, else " + DEFAULT_SERVER + ").")
    private @Nullable String server;

    @Option(
            names = "--profile",
            paramLabel = "NAME",
            description = "Profile of ~/.config/viv/config.toml (default: VIV_PROFILE or the profile in the file).")
    private @Nullable String profile;

    @Option(
            names = "--user",
            paramLabel = "USER",
            description = "Owner of a new thread (default: VIV_USER, the profile, or the user of the key).")
    private @Nullable String user;

    @Option(
            names = "--owner",
            paramLabel = "USER",
            description = "Owner of the thread, if several users have a thread of this name.")
    private @Nullable String owner;

    @Option(
            names = "--key-stdin",
            description = "Read the API key from standard input (default: VIV_API_KEY, the profile, or"
                    + " $VIV_HOME/credentials for a server on this machine).")
    private boolean keyFromInput;

    Account account(Terminal terminal) {
        Map<String, String> env = terminal.env();
        Profiles profiles = Profiles.of(env);
        String name = given(profile, env, "VIV_PROFILE").orElse(profiles.chosen());
        Map<String, String> chosen = profiles.require(name);
        URI address = address(given(server, env, "VIV_SERVER")
                .or(() -> Optional.ofNullable(chosen.get("server")))
                .orElseGet(() -> local(env)));
        Optional<String> who = given(user, env, "VIV_USER").or(() -> Optional.ofNullable(chosen.get("user")));
        Optional<String> key = key(terminal, profiles, chosen, address);
        return new Account(name, address, key, who, Optional.ofNullable(owner), missingKey(env));
    }

    /// Uses the key of a profile only for its server, and local credentials only for a local server.
    private Optional<String> key(Terminal terminal, Profiles profiles, Map<String, String> chosen, URI address) {
        if (keyFromInput) {
            return Optional.of(firstLine(terminal.in()));
        }
        Optional<String> given = Optional.ofNullable(terminal.env().get("VIV_API_KEY"));
        if (given.isPresent()) {
            return given;
        }
        boolean isProfiles =
                address(chosen.getOrDefault("server", local(terminal.env()))).equals(address);
        Optional<String> fromProfile = isProfiles ? profiles.key(chosen) : Optional.empty();
        return fromProfile.or(() -> isLocal(address) ? written(credentials(terminal.env())) : Optional.empty());
    }

    static boolean isLocal(URI server) {
        return LOCAL_HOSTS.contains(String.valueOf(server.getHost()));
    }

    private static URI address(String text) {
        try {
            URI address = URI.create(text.replaceAll("/+$", ""));
            if (address.getHost() != null && String.valueOf(address.getScheme()).startsWith("http")) {
                return address;
            }
        } catch (IllegalArgumentException _) {
            // Reported below.
        }
        throw new SandboxException(
                new Failure.InvalidRequest("the server's address '" + text + "'", "must be like " + DEFAULT_SERVER));
    }

    private static Optional<String> given(@Nullable String option, Map<String, String> env, String variable) {
        return Optional.ofNullable(option).or(() -> Optional.ofNullable(env.get(variable)));
    }

    /// Reads byte by byte, because the rest of the input belongs to the command.
    static String firstLine(InputStream in) {
        var line = new ByteArrayOutputStream();
        try {
            for (int b = in.read(); b >= 0 && b != '\n'; b = in.read()) {
                line.write(b);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return line.toString(StandardCharsets.UTF_8).strip();
    }

    private static Optional<String> written(Path file) {
        try {
            return Files.isReadable(file) ? Optional.of(Files.readString(file).strip()) : Optional.empty();
        } catch (IOException _) {
            return Optional.empty(); // Gone since, or not text: as good as not there.
        }
    }

    /// Returns the server of this machine: at the port of the environment, or at the address that a running server
    /// wrote to its home. The file is ignored if it names another machine.
    private static String local(Map<String, String> env) {
        String port = env.getOrDefault("VIV_PORT", "");
        if (!port.isEmpty()) {
            return "http://127.0.0.1:" + port;
        }
        return written(home(env).resolve("address"))
                .filter(address -> LOCAL_ADDRESS.matcher(address).matches())
                .orElse(DEFAULT_SERVER);
    }

    private static Path home(Map<String, String> env) {
        String home = env.getOrDefault("VIV_HOME", "");
        return home.isEmpty() ? Directories.home(env).resolve(".vivarium") : Path.of(home);
    }

    private static Path credentials(Map<String, String> env) {
        return home(env).resolve("credentials");
    }

    private static String missingKey(Map<String, String> env) {
        return "no API key: VIV_API_KEY is not set, " + Profiles.file(env) + " has none for this server, and "
                + credentials(env) + " does not apply, is missing or is not readable";
    }
}
