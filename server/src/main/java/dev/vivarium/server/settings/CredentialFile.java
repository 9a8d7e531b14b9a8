package dev.vivarium.server.settings;

import dev.vivarium.core.egress.Credential;
import dev.vivarium.model.HostName;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// File of credentials that the server adds to outgoing requests. Immutable.
///
/// Each line has a host, a header and its value. In the value, `${NAME}` refers to an environment variable of the
/// server. Only the server's user may have access to the file. No error message contains a value.
final class CredentialFile {
    private static final int TLS_PORT = 443;
    private static final Pattern LINE =
            Pattern.compile("(\\[[^\\s\\]]+]|[^\\s:]+)(?::([0-9]{1,5}))?\\s+(\\S+)\\s+(\\S.*)");
    private static final Pattern VARIABLE = Pattern.compile("\\$\\{([A-Za-z_][A-Za-z0-9_]*)}");

    private final Path file;
    private final Map<String, String> environment;

    CredentialFile(Path file, Map<String, String> environment) {
        this.file = file;
        this.environment = Map.copyOf(environment);
    }

    /// Reads all credentials. Throws `InvalidRequest` with the invalid line.
    List<Credential> read() {
        requirePrivate();
        var credentials = new ArrayList<Credential>();
        List<String> lines = lines();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            if (!line.isEmpty() && !line.startsWith("#")) {
                credentials.add(read(line, i + 1));
            }
        }
        return credentials;
    }

    private Credential read(String line, int number) {
        Matcher parts = LINE.matcher(line);
        if (!parts.matches()) {
            throw refused("must have a host, a header and a value on line " + number);
        }
        int port = parts.group(2) == null ? TLS_PORT : Integer.parseInt(parts.group(2));
        try {
            return new Credential(HostName.of(parts.group(1)), port, parts.group(3), value(parts.group(4), number));
        } catch (IllegalArgumentException e) {
            throw refused("line " + number + " " + e.getMessage());
        }
    }

    private String value(String text, int number) {
        return VARIABLE.matcher(text).replaceAll(found -> {
            String name = found.group(1);
            return Matcher.quoteReplacement(Optional.ofNullable(environment.get(name))
                    .orElseThrow(() -> refused("line " + number + " names " + name + ", which is not set")));
        });
    }

    private void requirePrivate() {
        try {
            var others = EnumSet.copyOf(Files.getPosixFilePermissions(file));
            others.removeAll(EnumSet.of(
                    PosixFilePermission.OWNER_READ,
                    PosixFilePermission.OWNER_WRITE,
                    PosixFilePermission.OWNER_EXECUTE));
            if (!others.isEmpty()) {
                throw refused("can be read by others; chmod 600 " + file);
            }
        } catch (IOException e) {
            throw refused("cannot be read: " + file);
        }
    }

    private List<String> lines() {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw refused("cannot be read: " + file);
        }
    }

    private static SandboxException refused(String rule) {
        return SandboxException.invalid(Catalogue.EGRESS_CREDENTIALS.key(), rule);
    }
}
