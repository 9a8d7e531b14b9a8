package dev.vivarium.server.http;

import dev.vivarium.core.CriticalThread;
import org.eclipse.jetty.io.ByteBufferPool;
import org.eclipse.jetty.io.RetainableByteBuffer;

/// Buffer pool of Jetty that reports a lack of direct memory. Jetty would ignore it and drop the request. Thread-safe.
final class ReportingBufferPool extends ByteBufferPool.Wrapper {
    ReportingBufferPool(ByteBufferPool pool) {
        super(pool);
    }

    @Override
    public RetainableByteBuffer.Mutable acquire(int size, boolean direct) {
        try {
            return super.acquire(size, direct);
        } catch (OutOfMemoryError e) {
            CriticalThread.report(e);
            throw e;
        }
    }
}
