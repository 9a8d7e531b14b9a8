package dev.vivarium.core.access;

import dev.vivarium.model.UserId;

/// A key at the one moment when it can be read; afterwards only its hash is known. Immutable.
public record IssuedKey(String keyId, UserId user, String key) {
    @Override
    public String toString() {
        return "IssuedKey[" + keyId + ", " + user + ", ***]";
    }
}
