package dev.vivarium.core.egress;

import dev.vivarium.model.TextEnum;
import java.time.Duration;

/// Record of one connection that a program in a sandbox made or attempted. Never contains payload. Immutable.
///
/// @param method  `CONNECT`, or the method of the request
/// @param host    host name of the destination; empty if the request was malformed
/// @param address address that the proxy connected to; empty if it did not connect
/// @param status  first HTTP status that the program received; 0 if none
/// @param up      bytes from the program to the host
/// @param down    bytes from the host to the program
public record EgressRecord(
        String method,
        String host,
        int port,
        String address,
        Verdict verdict,
        int status,
        long up,
        long down,
        Duration took) {
    /// Outcome of a connection.
    public enum Verdict implements TextEnum {
        ALLOWED,
        /// The host is not on the allow-list.
        HOST_REFUSED,
        /// The name resolves only to addresses that are not public.
        ADDRESS_REFUSED,
        /// The TLS handshake inside the tunnel names another host.
        NAME_REFUSED,
        /// The name could not be resolved.
        UNRESOLVED,
        /// The host does not accept connections or respond, or its response is invalid.
        UNREACHABLE,
        /// The program did not send a valid proxy request.
        MALFORMED,
        /// The server cut the connection: the allow-list changed, or the sandbox was paused.
        CUT
    }
}
