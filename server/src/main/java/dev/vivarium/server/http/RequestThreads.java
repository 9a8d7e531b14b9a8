package dev.vivarium.server.http;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/// Choice of the thread for a request: a virtual thread, or a platform thread for `/health`. Thread-safe.
///
/// `/health` has its own platform threads, because it must respond even if no virtual thread can run. This handler does
/// not block, so Jetty parses requests and calls it on the platform threads that watch the sockets. If the handler
/// could block, Jetty would parse every request on a virtual thread, `/health` included.
final class RequestThreads extends Handler.Wrapper {
    private static final String HEALTH = "/health";
    private static final int HEALTH_THREADS = 4;
    private static final int HEALTH_QUEUE = 128;

    private final Executor requests;
    private final ThreadPoolExecutor health = new ThreadPoolExecutor(
            HEALTH_THREADS,
            HEALTH_THREADS,
            1,
            TimeUnit.MINUTES,
            new ArrayBlockingQueue<>(HEALTH_QUEUE),
            Thread.ofPlatform().name("http-health-", 1).daemon().factory());

    /// @param requests starts a virtual thread for each task
    RequestThreads(Executor requests, Handler handler) {
        super(handler);
        this.requests = requests;
        health.allowCoreThreadTimeOut(true);
    }

    @Override
    public InvocationType getInvocationType() {
        return InvocationType.NON_BLOCKING;
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        if (HEALTH.equals(request.getHttpURI().getPath())) {
            try {
                health.execute(() -> pass(request, response, callback));
            } catch (RejectedExecutionException e) {
                // Without a body, because writing it may block.
                response.setStatus(HttpStatus.SERVICE_UNAVAILABLE_503);
                callback.succeeded();
            }
        } else if (Thread.currentThread().isVirtual() && !isMultiplexed(request)) {
            // Connections from inside a sandbox use virtual threads from the first byte.
            pass(request, response, callback);
        } else {
            requests.execute(() -> pass(request, response, callback));
        }
        return true;
    }

    /// The thread that reads an HTTP/2 connection must not wait for the body of one of its requests.
    private static boolean isMultiplexed(Request request) {
        return request.getConnectionMetaData().getHttpVersion() == HttpVersion.HTTP_2;
    }

    private void pass(Request request, Response response, Callback callback) {
        try {
            super.handle(request, response, callback);
        } catch (Throwable e) {
            Response.writeError(request, response, callback, e);
        }
    }

    @Override
    protected void doStop() throws Exception {
        super.doStop();
        health.shutdownNow();
    }
}
