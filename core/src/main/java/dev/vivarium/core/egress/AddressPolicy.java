package dev.vivarium.core.egress;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.List;
import java.util.stream.Stream;

/// Which addresses sandboxes may be connected to: those of the public Internet, and what the operator adds. Immutable.
///
/// The question is asked of an address and never of a name, after resolution, and the answer is used by connecting to
/// that very address. What is not public is what the registries of special addresses say, and the few services that
/// clouds keep on addresses which look public. Of IPv6 only what is given out for the Internet is public, without what
/// carries an IPv4 address inside: such an address would be checked as one thing and reached as another.
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
                    // The host agent of a large cloud.
                    "168.63.129.16/32",
                    // Teredo, ORCHID, benchmarks and the like.
                    "2001::/23",
                    "2001:db8::/32",
                    // 6to4: an IPv4 address is inside.
                    "2002::/16",
                    "3fff::/20")
            .map(AddressBlock::of)
            .toList();

    /// Everything else is loopback, link-local, private, multicast, mapped, translated or not given out.
    private static final AddressBlock GLOBAL_UNICAST = AddressBlock.of("2000::/3");

    private final List<AddressBlock> added;

    AddressPolicy(List<AddressBlock> added) {
        this.added = List.copyOf(added);
    }

    boolean permits(InetAddress address) {
        return isPublic(address) || added.stream().anyMatch(block -> block.contains(address));
    }

    private static boolean isPublic(InetAddress address) {
        boolean isGiven = !(address instanceof Inet6Address) || GLOBAL_UNICAST.contains(address);
        return isGiven && SPECIAL.stream().noneMatch(block -> block.contains(address));
    }
}
