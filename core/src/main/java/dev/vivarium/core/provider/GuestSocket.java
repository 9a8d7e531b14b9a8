package dev.vivarium.core.provider;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Where one machine's guest is let in: open from before the start until the first connection has come, and again for
/// each further one. Thread-safe.
public final class GuestSocket implements AutoCloseable {
    private final Supplier<GuestListener> bind;

    private final Object lock = new Object();

    @GuardedBy("lock")
    private @Nullable GuestListener listener;

    public GuestSocket(Supplier<GuestListener> bind) {
        this.bind = bind;
    }

    /// Begins to listen; [#admit] does so by itself when need be.
    public void open() {
        takeListener();
    }

    /// Waits for the guest's next connection and shuts the door behind it.
    public SocketChannel admit(Duration patience, BooleanSupplier isAlive) {
        var current = takeListener();
        try {
            return current.accept(patience, isAlive);
        } finally {
            synchronized (lock) {
                if (listener == current) {
                    listener = null;
                }
            }
        }
    }

    private GuestListener takeListener() {
        synchronized (lock) {
            if (listener == null) {
                listener = bind.get();
            }
            return listener;
        }
    }

    /// Stops listening; the machine itself goes on. Idempotent.
    @Override
    public void close() {
        GuestListener open;
        synchronized (lock) {
            open = listener;
            listener = null;
        }
        if (open != null) {
            open.close();
        }
    }
}
