package dev.vivarium.core.egress;

import dev.vivarium.model.Egress;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.util.List;
import java.util.function.Supplier;
import javax.net.ssl.SSLSocketFactory;

/// Egress settings of the server. Immutable.
///
/// @param standard         allow-list of a sandbox whose create request has none
/// @param maximum          upper limit for every allow-list
/// @param privateAddresses non-public addresses that sandboxes may reach
/// @param credentials      headers that the server adds to requests, by host
/// @param connections      maximum number of concurrent connections of a sandbox
/// @param resolver         resolver of host names
/// @param tls              source of TLS sockets for hosts with a credential
public record EgressConfig(
        Egress standard,
        Egress maximum,
        List<AddressBlock> privateAddresses,
        List<Credential> credentials,
        int connections,
        Resolver resolver,
        Supplier<SSLSocketFactory> tls) {
    /// Default of `connections`.
    public static final int CONNECTIONS = 128;

    public EgressConfig {
        privateAddresses = List.copyOf(privateAddresses);
        credentials = List.copyOf(credentials);
    }

    /// Returns the defaults: sandboxes reach no host, and a request may allow any public host.
    public static EgressConfig ordinary() {
        return new EgressConfig(
                Egress.NONE,
                Egress.of("egress-most", List.of("*:*")),
                List.of(),
                List.of(),
                CONNECTIONS,
                Resolver.system(),
                EgressConfig::systemTls);
    }

    /// Returns a factory that trusts the certificate authorities of the Java runtime. Call it on first use: the
    /// list of authorities takes long to load.
    public static SSLSocketFactory systemTls() {
        return (SSLSocketFactory) SSLSocketFactory.getDefault();
    }

    /// Throws `NotAllowed` if a list exceeds the upper limit of this server.
    public void require(Egress list) {
        list.findBeyond(maximum).ifPresent(rule -> {
            throw new SandboxException(new Failure.NotAllowed(
                    "egress to " + rule + " exceeds the egress-most setting of this server, which allows "
                            + (maximum.isEmpty() ? "none" : String.join(", ", maximum.texts()))));
        });
    }

    /// Returns the same settings with other private addresses.
    public EgressConfig withPrivateAddresses(List<AddressBlock> other) {
        return new EgressConfig(standard, maximum, other, credentials, connections, resolver, tls);
    }

    public EgressConfig withResolver(Resolver other) {
        return new EgressConfig(standard, maximum, privateAddresses, credentials, connections, other, tls);
    }
}
