package dev.vivarium.core.egress;

import dev.vivarium.model.HostName;
import java.io.IOException;
import java.net.Socket;

/// Connector for requests of the server itself to hosts that users name. It resolves the name, checks each address, and
/// connects to a checked address, so that a second resolution cannot lead elsewhere. Thread-safe.
public final class PublicConnector implements AutoCloseable {
    private final OutboundConnector connector;
    private final String setting;

    /// @param config  resolver, certificate authorities and permitted private addresses
    /// @param setting name of the setting that permits private addresses, for errors
    public PublicConnector(EgressConfig config, String setting) {
        this.connector = new OutboundConnector(config);
        this.setting = setting;
    }

    /// Fails if the host has no permitted address. The message is a sentence.
    public void check(HostName host, int port) throws IOException {
        try {
            var _ = connector.permitted(new Destination(host, port, ""));
        } catch (Rejection e) {
            throw new IOException(sentence(host, e), e);
        }
    }

    /// Connects to a permitted address of the host.
    public Socket connect(HostName host, int port) throws IOException {
        try {
            return connector.connect(new Destination(host, port, ""));
        } catch (Rejection e) {
            throw new IOException(sentence(host, e), e);
        }
    }

    /// Starts TLS on a connection and verifies the certificate against the host name.
    public Socket secure(Socket plain, HostName host, int port) throws IOException {
        return connector.secure(plain, new Destination(host, port, ""));
    }

    private String sentence(HostName host, Rejection e) {
        return e.verdict() == EgressRecord.Verdict.ADDRESS_REFUSED
                ? host + " leads to an address that is not public; the operator can permit it with the setting "
                        + setting
                : e.sentence();
    }

    /// Idempotent.
    @Override
    public void close() {
        connector.close();
    }
}
