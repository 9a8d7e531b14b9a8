package dev.vivarium.cli.tty;

import java.net.URI;

/// Access to a shell. Confined to one thread.
public interface Access {
    /// The way in as it is now: the same as last time, or with the next token when that is due.
    Entry entry();

    /// Makes the next token another one, after one was refused.
    void renew();

    /// Where the shell is, and what opens it.
    record Entry(URI address, String token) {
        @Override
        public String toString() {
            return "Entry[" + address + "]";
        }
    }
}
