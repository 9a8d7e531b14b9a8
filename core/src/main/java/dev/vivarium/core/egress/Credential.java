package dev.vivarium.core.egress;

import dev.vivarium.model.HostName;
import java.util.regex.Pattern;

/// A header that the host adds to requests for one host, so that what is in it never enters a sandbox. Such requests
/// leave by `https`, however they came. Immutable.
///
/// @param port where the host speaks TLS
public record Credential(HostName host, int port, String header, String value) {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9-]{1,100}");
    private static final Pattern VALUE = Pattern.compile("[\\x21-\\x7e]([\\x20-\\x7e]*[\\x21-\\x7e])?");

    /// A shorter word could stand in any text.
    private static final int SHORTEST = 8;

    public Credential {
        if (!NAME.matcher(header).matches() || HeaderLines.isOurs(header)) {
            throw new IllegalArgumentException("cannot set the header '" + header.replaceAll("[^ -~]", "?") + "'");
        }
        if (!VALUE.matcher(value).matches()) {
            throw new IllegalArgumentException("has a value for " + header + " that no header can carry");
        }
    }

    /// Reports whether it belongs to a request that asks for this host.
    boolean isFor(Destination asked) {
        boolean isPort = asked.port() == 80 || asked.port() == port;
        return isPort && asked.host().equals(host);
    }

    /// Reports whether a text shows the secret, with or without the word before it (`Bearer`, say).
    boolean isShownIn(String text) {
        String last = value.substring(value.lastIndexOf(' ') + 1);
        return text.contains(last.length() >= SHORTEST ? last : value);
    }

    /// Never shows the value.
    @Override
    public String toString() {
        return "Credential[" + host + ":" + port + ", " + header + ", ***]";
    }
}
