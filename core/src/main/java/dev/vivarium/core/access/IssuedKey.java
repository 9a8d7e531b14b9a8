package dev.vivarium.core.access;

import dev.vivarium.model.UserId;

/// A newly issued key. Only this object contains the key; the store keeps its hash. Immutable.
public record IssuedKey(String keyId, UserId user, String key) {
    @Override
    public String toString() {
        return "IssuedKey[" + keyId + ", " + user + ", ***]";
    }
}
