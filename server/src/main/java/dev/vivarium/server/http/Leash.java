package dev.vivarium.server.http;

import dev.vivarium.core.access.Grant;
import dev.vivarium.core.access.Tokens;
import dev.vivarium.core.access.Watch;
import dev.vivarium.core.access.Watch.Ended;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;

/// Cuts the connection of a request whose right is taken away while it is being served: a stream may last for days. One
/// that expires, or is replaced by its next, was good when it came, and the request goes on. Thread-safe.
final class Leash implements AutoCloseable {
    private static final Set<Ended> REASONS = EnumSet.of(Ended.REVOKED, Ended.ROTATED, Ended.UNINVITED);

    private final Tokens tokens;
    private final Grant grant;
    private final BooleanSupplier mayStay;
    private final Runnable cut;
    private volatile Optional<Watch> watch = Optional.empty();
    private volatile boolean closed;

    private Leash(Tokens tokens, Grant grant, BooleanSupplier mayStay, Runnable cut) {
        this.tokens = tokens;
        this.grant = grant;
        this.mayStay = mayStay;
        this.cut = cut;
    }

    /// @param mayStay asks again after the rights of the caller have changed
    static Leash take(Tokens tokens, Grant grant, BooleanSupplier mayStay, Runnable cut) {
        var leash = new Leash(tokens, grant, mayStay, cut);
        leash.listen();
        return leash;
    }

    private void listen() {
        var taken = tokens.watch(grant, REASONS, this::ended);
        watch = Optional.of(taken);
        if (closed) {
            taken.close();
        }
    }

    private void ended(Ended why) {
        if (why == Ended.UNINVITED && mayStay.getAsBoolean()) {
            listen();
        } else if (!closed) {
            cut.run();
        }
    }

    @Override
    public void close() {
        closed = true;
        watch.ifPresent(Watch::close);
    }
}
