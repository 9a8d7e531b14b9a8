package dev.vivarium.cli.tty;

import java.net.URI;

/// Access to a shell. Confined to one thread.
public interface Access {
    /// Returns the current address and token, refreshed if necessary.
    Entry entry();

    /// Discards the token after a refusal.
    void renew();

    /// Address and token of a shell.
    record Entry(URI address, String token) {
        @Override
        public String toString() {
            return "Entry[" + address + "]";
        }
    }
}
