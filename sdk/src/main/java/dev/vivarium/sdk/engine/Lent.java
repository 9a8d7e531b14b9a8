package dev.vivarium.sdk.engine;

import java.io.FilterInputStream;
import java.io.InputStream;

/// A stream that its owner will close. Confined to the worker that reads it.
final class Lent extends FilterInputStream {
    Lent(InputStream stream) {
        super(stream);
    }

    @Override
    public void close() {}
}
