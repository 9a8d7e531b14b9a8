package dev.vivarium.server.http;

import dev.vivarium.core.LoopBudget;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/// Request body with a [LoopBudget], so that its reader leaves carrier threads to others. Confined to the thread that
/// reads.
final class BudgetedInput extends FilterInputStream {
    private final LoopBudget budget = new LoopBudget();

    BudgetedInput(InputStream in) {
        super(in);
    }

    @Override
    public int read() throws IOException {
        var one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        budget.blocks();
        int count = in.read(bytes, offset, length);
        budget.spend(Math.max(0, count));
        return count;
    }
}
