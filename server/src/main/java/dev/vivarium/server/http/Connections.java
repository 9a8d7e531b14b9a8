package dev.vivarium.server.http;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.core.Scheduler;
import dev.vivarium.server.settings.HttpConfig;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// Open connections of clients, with limits in total and per address. Thread-safe.
///
/// The limits keep descriptors free for the rest of the server. It also closes connections that are too slow. At the
/// limit, a new connection replaces the oldest unauthenticated connection, or else the oldest unused one. A normal
/// client authenticates at once with its first request, so it is not among the unauthenticated for long.
final class Connections implements AutoCloseable {
    private static final int MAX_CONNECTIONS = 8192;
    private static final int LEAST = 16;
    private static final Duration STEP = Duration.ofMillis(250);

    /// Number of sweeps between two measurements of the capacity.
    private static final int MEASURED_EVERY = 4;

    private static final int IPV6_NETWORK_BYTES = 8;

    private final HttpConfig.Limits limits;
    private final int descriptors = Descriptors.limit();
    private final Scheduler.Jobs jobs;

    /// Connections of clients without a valid credential, oldest first.
    @GuardedBy("this")
    private final Set<ClientEndPoint> unauthenticated = new LinkedHashSet<>();

    @GuardedBy("this")
    private final Set<ClientEndPoint> authenticated = new LinkedHashSet<>();

    @GuardedBy("this")
    private final Map<String, Integer> addresses = new HashMap<>();

    private volatile int capacity = MAX_CONNECTIONS;
    private int sweeps;

    Connections(HttpConfig.Limits limits, Scheduler scheduler) {
        this.limits = limits;
        measure();
        this.jobs = scheduler.jobs().every(STEP, "connection check", this::sweep);
    }

    /// Reports whether the address may open another connection.
    synchronized boolean admits(Optional<InetAddress> address) {
        return address.map(one -> addresses.getOrDefault(network(one), 0)).orElse(0) < limits.perAddress();
    }

    void add(ClientEndPoint opened) {
        List<ClientEndPoint> surplus;
        synchronized (this) {
            unauthenticated.add(opened);
            opened.address().ifPresent(address -> addresses.merge(network(address), 1, Integer::sum));
            surplus = surplus(capacity, opened);
        }
        surplus.forEach(ClientEndPoint::close);
    }

    synchronized void remove(ClientEndPoint closed) {
        boolean wasOpen = unauthenticated.remove(closed) | authenticated.remove(closed);
        if (wasOpen) {
            closed.address()
                    .ifPresent(address -> addresses.computeIfPresent(
                            network(address), (_, count) -> count == 1 ? null : Integer.valueOf(count - 1)));
        }
    }

    synchronized void authenticated(ClientEndPoint client) {
        if (unauthenticated.remove(client)) {
            authenticated.add(client);
        }
    }

    /// Closes some connections after the system had no descriptor.
    void makeRoom() {
        List<ClientEndPoint> surplus;
        synchronized (this) {
            surplus = surplus(Math.max(LEAST, size() - LEAST), null);
        }
        surplus.forEach(ClientEndPoint::close);
    }

    @GuardedBy("this")
    private int size() {
        return unauthenticated.size() + authenticated.size();
    }

    /// Returns the connections to close so that at most `max` remain. The newest connection is the last choice.
    @GuardedBy("this")
    private List<ClientEndPoint> surplus(int max, @Nullable ClientEndPoint newest) {
        int excess = size() - max;
        if (excess <= 0) {
            return List.of();
        }
        var surplus = new LinkedHashSet<ClientEndPoint>();
        choose(unauthenticated, client -> client != newest && client.isUnused(), excess, surplus);
        choose(unauthenticated, client -> client != newest, excess, surplus);
        choose(authenticated, ClientEndPoint::isUnused, excess, surplus);
        choose(unauthenticated, _ -> true, excess, surplus);
        return List.copyOf(surplus);
    }

    private static void choose(
            Set<ClientEndPoint> clients, Predicate<ClientEndPoint> which, int max, Set<ClientEndPoint> chosen) {
        for (ClientEndPoint client : clients) {
            if (chosen.size() >= max) {
                return;
            }
            if (which.test(client)) {
                chosen.add(client);
            }
        }
    }

    private void sweep() {
        if (++sweeps % MEASURED_EVERY == 0) {
            measure();
        }
        List<ClientEndPoint> all;
        synchronized (this) {
            all = new ArrayList<>(unauthenticated);
            all.addAll(authenticated);
        }
        long now = System.nanoTime();
        all.forEach(client -> client.sweep(now, STEP, limits));
    }

    private void measure() {
        int open = Descriptors.open().orElse(0);
        int connections;
        synchronized (this) {
            connections = size();
        }
        int room = descriptors - Descriptors.reserve(descriptors) - Math.max(0, open - connections);
        capacity = Math.clamp(room, LEAST, MAX_CONNECTIONS);
    }

    /// Returns a text for the network of an address. Groups IPv6 addresses by network, because an IPv6 client has a
    /// whole network of addresses.
    static String network(InetAddress address) {
        byte[] bytes = address.getAddress();
        return HexFormat.of()
                .formatHex(address instanceof Inet6Address ? Arrays.copyOf(bytes, IPV6_NETWORK_BYTES) : bytes);
    }

    @Override
    public void close() {
        jobs.close();
    }
}
