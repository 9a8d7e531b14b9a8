package dev.vivarium.core.egress;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.List;
import java.util.stream.Stream;

/// Policy that decides which addresses a sandbox may connect to: public addresses, and the blocks that the operator
/// adds. Immutable.
///
/// The proxy checks the resolved address, never the name, and then connects to exactly that address. An address is not
/// public if it is in a registry of special addresses, or if a cloud provider serves host services on it. For IPv6,
/// only global unicast addresses that embed no IPv4 address are public. An embedded IPv4 address would pass the check
/// as one address and reach another.
final class AddressPolicy {
    private static final List<AddressBlock> SPECIAL = Stream.of(
                    "0.0.0.0/8",
                    "10.0.0.0/8",
                    "100.64.0.0/10",
                    "127.0.0.0/8",
                    "169.254.0.0/16",
                    "172.16.0.0/12",
                    "192.0.0.0/24",
                    "192.0.2.0/24",
                    "192.88.99.0/24",
                    "192.168.0.0/16",
                    "198.18.0.0/15",
                    "198.51.100.0/24",
                    "203.0.113.0/24",
                    "224.0.0.0/4",
                    "240.0.0.0/4",
                    // Host agent of a large cloud provider.
                    "168.63.129.16/32",
                    // Teredo, ORCHID, benchmarking and similar assignments.
                    "2001::/23",
                    "2001:db8::/32",
                    // 6to4: embeds an IPv4 address.
                    "2002::/16",
                    "3fff::/20")
            .map(AddressBlock::of)
            .toList();

    /// All other IPv6 addresses are loopback, link-local, private, multicast, mapped, translated or unallocated.
    private static final AddressBlock GLOBAL_UNICAST = AddressBlock.of("2000::/3");

    private final List<AddressBlock> added;

    AddressPolicy(List<AddressBlock> added) {
        this.added = List.copyOf(added);
    }

    boolean permits(InetAddress address) {
        return isPublic(address) || added.stream().anyMatch(block -> block.contains(address));
    }

    static boolean isPublic(InetAddress address) {
        boolean isGiven = !(address instanceof Inet6Address) || GLOBAL_UNICAST.contains(address);
        return isGiven && SPECIAL.stream().noneMatch(block -> block.contains(address));
    }
}
