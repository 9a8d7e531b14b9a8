package dev.vivarium.core.egress;

import dev.vivarium.core.LoopBudget;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;

/// Input stream of a host with the idle timeout of the whole connection. Confined to one thread.
///
/// A host may be silent as long as the program is not.
final class TimeoutInputStream extends FilterInputStream {
    private final ProgramConnection client;
    private final LoopBudget budget = new LoopBudget();

    TimeoutInputStream(InputStream in, ProgramConnection client) {
        super(in);
        this.client = client;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        while (true) {
            budget.blocks();
            try {
                int count = super.read(bytes, offset, length);
                budget.spend(Math.max(0, count));
                return count;
            } catch (SocketTimeoutException e) {
                if (client.isIdle(EgressProxy.IDLE)) {
                    throw e;
                }
            }
        }
    }
}
