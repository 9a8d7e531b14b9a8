package dev.vivarium.core.egress;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

/// Finds the addresses of a name. Called by workers that may wait; must be thread-safe.
@FunctionalInterface
public interface Resolver {
    List<InetAddress> resolve(String name) throws UnknownHostException;

    /// The resolver of the machine.
    static Resolver system() {
        return name -> List.of(InetAddress.getAllByName(name));
    }
}
