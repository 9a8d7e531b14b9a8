package dev.vivarium.core.egress;

import dev.vivarium.model.Egress;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.util.List;
import java.util.function.Supplier;
import javax.net.ssl.SSLSocketFactory;

/// What sandboxes may reach, and how. Immutable.
///
/// @param standard         what a sandbox may reach that does not ask
/// @param most             what a sandbox may ask for
/// @param privateAddresses addresses that are not public and may be reached all the same
/// @param credentials      what is added to requests, by host
/// @param connections      how many connections a sandbox may have at a time
/// @param resolver         what finds the addresses of names
/// @param tls              what speaks TLS to hosts for which there is a credential
public record EgressConfig(
        Egress standard,
        Egress most,
        List<AddressBlock> privateAddresses,
        List<Credential> credentials,
        int connections,
        Resolver resolver,
        Supplier<SSLSocketFactory> tls) {
    /// How many connections a sandbox may have at a time, unless somebody says otherwise.
    public static final int CONNECTIONS = 128;

    public EgressConfig {
        privateAddresses = List.copyOf(privateAddresses);
        credentials = List.copyOf(credentials);
    }

    /// Nothing by default, any public host on request.
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

    /// Trusts whom the machine's Java trusts. Made when it is needed: the list of authorities takes long to load.
    public static SSLSocketFactory systemTls() {
        return (SSLSocketFactory) SSLSocketFactory.getDefault();
    }

    /// Throws `NotAllowed` when a list asks for more than anybody may have.
    public void require(Egress list) {
        list.findBeyond(most).ifPresent(rule -> {
            throw new SandboxException(
                    new Failure.NotAllowed("egress to " + rule + " is more than this server gives; the most is "
                            + (most.isEmpty() ? "none" : String.join(", ", most.texts()))));
        });
    }

    public EgressConfig withResolver(Resolver other) {
        return new EgressConfig(standard, most, privateAddresses, credentials, connections, other, tls);
    }
}
