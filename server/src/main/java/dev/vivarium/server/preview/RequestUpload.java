package dev.vivarium.server.preview;

import dev.vivarium.core.LoopBudget;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;

/// Upload of a request body to the program, on its own thread. Confined to the worker that starts it.
///
/// The upload has its own thread because a program can respond before it has read the body. If the program stops
/// reading, the upload discards the rest, so that the client can read the response.
final class RequestUpload implements AutoCloseable {
    /// Time limit for a client to finish sending a body that the program no longer reads.
    private static final Duration LINGER = Duration.ofSeconds(10);

    private final Request request;
    private final Upstream upstream;
    private final Thread worker;
    private final LoopBudget budget = new LoopBudget();
    private boolean wanted = true;

    private RequestUpload(Request request, Upstream upstream) {
        this.request = request;
        this.upstream = upstream;
        this.worker =
                Thread.ofVirtual().name("preview-upload-" + request.getId()).start(this::run);
    }

    static RequestUpload start(Request request, Upstream upstream) {
        return new RequestUpload(request, upstream);
    }

    private void run() {
        try {
            pass();
        } catch (IOException | SandboxException e) {
            // The client disconnected or the sandbox is gone. Closing unblocks the thread that waits for the response.
            upstream.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void pass() throws IOException, InterruptedException {
        boolean last = false;
        while (!last) {
            Content.Chunk chunk = request.read();
            if (chunk == null) {
                budget.blocks();
                awaitContent();
                continue;
            }
            if (Content.Chunk.isFailure(chunk)) {
                throw new IOException("the request broke off", chunk.getFailure());
            }
            last = chunk.isLast();
            int length = chunk.remaining();
            send(chunk.getByteBuffer(), last);
            chunk.release();
            budget.spend(length);
        }
    }

    private void send(ByteBuffer piece, boolean last) throws IOException {
        wanted = wanted && upstream.send(piece, last);
    }

    private void awaitContent() throws InterruptedException {
        var ready = new CountDownLatch(1);
        request.demand(ready::countDown);
        ready.await();
    }

    /// Drains the rest of the body for a limited time. The caller must have sent the response.
    @Override
    public void close() {
        upstream.close();
        try {
            if (!worker.join(LINGER)) {
                worker.interrupt();
                worker.join();
            }
        } catch (InterruptedException e) {
            worker.interrupt();
            Thread.currentThread().interrupt();
        }
    }
}
