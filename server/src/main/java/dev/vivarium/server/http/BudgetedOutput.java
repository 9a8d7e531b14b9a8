package dev.vivarium.server.http;

import dev.vivarium.core.LoopBudget;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/// Response body with a [LoopBudget], so that its writer leaves carrier threads to others. Confined to the thread that
/// writes.
final class BudgetedOutput extends FilterOutputStream {
    private final LoopBudget budget = new LoopBudget();

    BudgetedOutput(OutputStream out) {
        super(out);
    }

    @Override
    public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        budget.blocks();
        out.write(bytes, offset, length);
        budget.spend(length);
    }

    /// Does not flush first, unlike the parent class: the stream below sends its last bytes and its end together.
    @Override
    public void close() throws IOException {
        out.close();
    }
}
