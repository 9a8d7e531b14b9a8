package dev.vivarium.core.guest;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.model.Failure;
import dev.vivarium.model.RequestFailure;
import dev.vivarium.model.SandboxException;
import java.util.ArrayList;
import java.util.List;

/// Cancels the guest calls of one piece of work, such as an HTTP request whose client has hung up. Thread-safe.
///
/// [#call] binds it to the calling thread. Each channel that this thread opens for a call that ends with its caller is
/// registered here, and [#cancel] closes all of them: the guest stops computing, and the thread that waits for an
/// answer gets [#FAILURE]. Channels that outlive their caller, as those of kept processes, are not registered. An
/// interrupt would be simpler, but it would also break database connections and half-finished changes of sandboxes.
public final class Cancellation {
    public static final Failure FAILURE = new RequestFailure.ClientGone();

    /// From this number on, ended channels are removed before another channel is registered.
    private static final int MANY = 64;

    private static final ScopedValue<Cancellation> CURRENT = ScopedValue.newInstance();

    @GuardedBy("this")
    private final List<Channel> channels = new ArrayList<>(2);

    @GuardedBy("this")
    private final List<Runnable> actions = new ArrayList<>(0);

    private volatile boolean cancelled;

    /// Runs `work` with this as the cancellation of every guest call that it makes in the calling thread.
    public <R, X extends Throwable> R call(ScopedValue.CallableOp<R, X> work) throws X {
        return ScopedValue.where(CURRENT, this).call(work);
    }

    /// Cancels all calls under way; later calls fail at once. Idempotent.
    public void cancel() {
        List<Channel> open;
        List<Runnable> due;
        synchronized (this) {
            cancelled = true;
            open = List.copyOf(channels);
            due = List.copyOf(actions);
            channels.clear();
            actions.clear();
        }
        open.forEach(channel -> channel.abandon(new ChannelEnd.Failed(FAILURE)));
        due.forEach(Runnable::run);
    }

    /// Throws [#FAILURE] after cancellation.
    public void check() {
        if (cancelled) {
            throw new SandboxException(FAILURE);
        }
    }

    /// Runs `action` once on cancellation; at once if the work is already cancelled.
    public void onCancel(Runnable action) {
        synchronized (this) {
            if (!cancelled) {
                actions.add(action);
                return;
            }
        }
        action.run();
    }

    /// Throws [#FAILURE] if the work of the calling thread is cancelled.
    static void checkCurrent() {
        if (CURRENT.isBound()) {
            CURRENT.get().check();
        }
    }

    /// Registers a channel that the calling thread has opened.
    static void register(Channel channel) {
        if (CURRENT.isBound()) {
            CURRENT.get().add(channel);
        }
    }

    private void add(Channel channel) {
        synchronized (this) {
            if (!cancelled) {
                if (channels.size() >= MANY) {
                    channels.removeIf(Channel::hasEnded);
                }
                channels.add(channel);
                return;
            }
        }
        channel.abandon(new ChannelEnd.Failed(FAILURE));
    }
}
