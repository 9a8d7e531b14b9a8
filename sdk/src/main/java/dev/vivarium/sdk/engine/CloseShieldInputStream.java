package dev.vivarium.sdk.engine;

import java.io.FilterInputStream;
import java.io.InputStream;

/// Stream whose owner closes it. Confined to one thread.
final class CloseShieldInputStream extends FilterInputStream {
    CloseShieldInputStream(InputStream stream) {
        super(stream);
    }

    @Override
    public void close() {}
}
