package dev.vivarium.core.egress;

import java.time.Duration;
import java.util.Locale;

/// One connection that a program in a sandbox made, or wanted to make: where to and what became of it. Never holds what
/// was said on it. Immutable.
///
/// @param method  `CONNECT`, or that of the one request
/// @param host    where to, by its name; empty if that could not be read
/// @param address the address that was connected to; empty if none was
/// @param status  what the program was answered first, as a status of HTTP; 0 if nothing
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
    /// What became of it.
    public enum Verdict {
        ALLOWED,
        /// The host is not on the list.
        HOST_REFUSED,
        /// The name leads to addresses that are not public.
        ADDRESS_REFUSED,
        /// What was said inside the tunnel names another host.
        NAME_REFUSED,
        /// The name has no address.
        UNRESOLVED,
        /// Nobody answers there, or the answer cannot be passed on.
        UNREACHABLE,
        /// The program did not speak as to a proxy.
        MALFORMED,
        /// It was ended by us: the list changed, or the sandbox was paused.
        CUT;

        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
