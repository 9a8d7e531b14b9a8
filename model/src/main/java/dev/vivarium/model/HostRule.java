package dev.vivarium.model;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Rule of an allow-list: hosts and ports. Immutable.
///
/// `example.com` matches one name, `*.example.com` every subdomain, and `*` every name. A rule matches ports 80 and
/// 443; a suffix `:8443` or `:*` selects one other port or all ports. Only a rule that names an address matches it.
public record HostRule(Hosts hosts, Ports ports) {
    private static final Pattern TEXT = Pattern.compile("(\\[[^]]*]|[^\\[\\]:]*)(?::([0-9]{1,5}|\\*))?");
    private static final int MAX_PORT = 65_535;

    public sealed interface Hosts {
        /// Every name, but no address.
        record All() implements Hosts {}

        /// Every subdomain of this name, but not the name itself.
        record Below(HostName name) implements Hosts {}

        record One(HostName name) implements Hosts {}
    }

    public sealed interface Ports {
        /// 80 and 443.
        record OfTheWeb() implements Ports {}

        record One(int port) implements Ports {}

        record All() implements Ports {}
    }

    /// Parses a rule. Throws [IllegalArgumentException] with the violated rule.
    public static HostRule of(String text) {
        Matcher parts = TEXT.matcher(text);
        if (!parts.matches()) {
            throw new IllegalArgumentException("must be a host, perhaps with a port, such as example.com:8443");
        }
        return new HostRule(hosts(parts.group(1)), ports(parts.group(2)));
    }

    private static Hosts hosts(String text) {
        if (text.equals("*")) {
            return new Hosts.All();
        }
        if (!text.startsWith("*.")) {
            return new Hosts.One(HostName.of(text));
        }
        HostName above = HostName.of(text.substring(2));
        if (above.address().isPresent()) {
            throw new IllegalArgumentException("must not have a wildcard before an address");
        }
        return new Hosts.Below(above);
    }

    private static Ports ports(@org.jspecify.annotations.Nullable String text) {
        if (text == null) {
            return new Ports.OfTheWeb();
        }
        if (text.equals("*")) {
            return new Ports.All();
        }
        int port = Integer.parseInt(text);
        if (port < 1 || port > MAX_PORT) {
            throw new IllegalArgumentException("must have a port between 1 and " + MAX_PORT);
        }
        return new Ports.One(port);
    }

    public boolean allows(HostName host, int port) {
        boolean isHost = switch (hosts) {
            case Hosts.All _ -> host.address().isEmpty();
            case Hosts.Below(HostName above) -> host.isBelow(above);
            case Hosts.One(HostName name) -> host.equals(name);
        };
        return isHost && allows(port);
    }

    private boolean allows(int port) {
        return switch (ports) {
            case Ports.OfTheWeb _ -> port == 80 || port == 443;
            case Ports.One(int only) -> port == only;
            case Ports.All _ -> true;
        };
    }

    /// Reports whether this rule matches everything that `other` matches.
    boolean covers(HostRule other) {
        boolean coversHosts = switch (hosts) {
            case Hosts.All _ ->
                !(other.hosts instanceof Hosts.One(HostName name))
                        || name.address().isEmpty();
            case Hosts.Below(HostName above) ->
                switch (other.hosts) {
                    case Hosts.All _ -> false;
                    case Hosts.Below(HostName name) -> name.equals(above) || name.isBelow(above);
                    case Hosts.One(HostName name) -> name.isBelow(above);
                };
            case Hosts.One _ -> other.hosts.equals(hosts);
        };
        return coversHosts && coversPorts(other.ports);
    }

    private boolean coversPorts(Ports others) {
        return switch (others) {
            case Ports.OfTheWeb _ -> allows(80) && allows(443);
            case Ports.One(int port) -> allows(port);
            case Ports.All _ -> ports instanceof Ports.All;
        };
    }

    @Override
    public String toString() {
        String host = switch (hosts) {
            case Hosts.All _ -> "*";
            case Hosts.Below(HostName above) -> "*." + above;
            case Hosts.One(HostName name) -> name.text();
        };
        return switch (ports) {
            case Ports.OfTheWeb _ -> host;
            case Ports.One(int port) -> host + ":" + port;
            case Ports.All _ -> host + ":*";
        };
    }
}
