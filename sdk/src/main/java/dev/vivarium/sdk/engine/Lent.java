package dev.vivarium.sdk.engine;

import java.io.FilterInputStream;
import java.io.InputStream;

/// Stream whose owner closes it. Confined to one thread.
final class Lent extends FilterInputStream {
    Lent(InputStream stream) {
        super(stream);
    }

    @Override
    public void close() {}
}
