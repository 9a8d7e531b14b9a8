package dev.vivarium.core.egress;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

/// Resolver of host names. Must be thread-safe. Callers may block.
@FunctionalInterface
public interface Resolver {
    List<InetAddress> resolve(String name) throws UnknownHostException;

    static Resolver system() {
        return name -> List.of(InetAddress.getAllByName(name));
    }
}
