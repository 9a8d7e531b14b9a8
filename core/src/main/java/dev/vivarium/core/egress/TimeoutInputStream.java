package dev.vivarium.core.egress;

import dev.vivarium.core.LoopBudget;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;

/// What a host sends, read with as much patience as the whole connection has: a host may be silent for as long as the
/// program is not. Confined to the worker that reads it.
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
