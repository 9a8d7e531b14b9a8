package dev.vivarium.core.provider;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Accepts the connections of the guest of one machine. It listens from before the start until the first connection,
/// and again for each later connection. Thread-safe.
public final class GuestSocket implements AutoCloseable {
    private final Supplier<GuestListener> bind;

    private final Object lock = new Object();

    @GuardedBy("lock")
    private @Nullable GuestListener listener;

    public GuestSocket(Supplier<GuestListener> bind) {
        this.bind = bind;
    }

    /// Starts to listen; [#admit] also does so if needed.
    public void open() {
        takeListener();
    }

    /// Waits for the next connection of the guest, and then stops listening.
    public SocketChannel admit(Duration timeout, BooleanSupplier isAlive) {
        var current = takeListener();
        try {
            return current.accept(timeout, isAlive);
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

    /// Stops listening; the machine continues. Idempotent.
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
