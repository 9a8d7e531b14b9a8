package dev.vivarium.core.egress;

import dev.vivarium.model.HostName;
import java.util.regex.Pattern;

/// Header that the server adds to requests for one host, so that the secret never enters a sandbox. Immutable.
///
/// Such requests leave over `https`, even if the program sent them over `http`.
///
/// @param port TLS port of the host
public record Credential(HostName host, int port, String header, String value) {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9-]{1,100}");
    private static final Pattern VALUE = Pattern.compile("[\\x21-\\x7e]([\\x20-\\x7e]*[\\x21-\\x7e])?");

    /// Minimum length of a secret to search for. Any text could contain a shorter word.
    private static final int SHORTEST = 8;

    public Credential {
        if (!NAME.matcher(header).matches() || HeaderLines.isReservedForProxy(header)) {
            throw new IllegalArgumentException("cannot set the header '" + header.replaceAll("[^ -~]", "?") + "'");
        }
        if (!VALUE.matcher(value).matches()) {
            throw new IllegalArgumentException("has a value for " + header + " that no header can carry");
        }
    }

    /// Reports whether the server adds the credential to a request for this destination.
    boolean isFor(Destination asked) {
        boolean isPort = asked.port() == 80 || asked.port() == port;
        return isPort && asked.host().equals(host);
    }

    /// Reports whether a text contains the secret, with or without its scheme (such as `Bearer`).
    boolean isContainedIn(String text) {
        String last = value.substring(value.lastIndexOf(' ') + 1);
        return text.contains(last.length() >= SHORTEST ? last : value);
    }

    /// Omits the value.
    @Override
    public String toString() {
        return "Credential[" + host + ":" + port + ", " + header + ", ***]";
    }
}
