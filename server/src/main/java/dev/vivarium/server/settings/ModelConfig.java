package dev.vivarium.server.settings;

import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.util.Optional;

/// Settings of the model gateway: providers, keys, timeout and prices. Immutable.
///
/// @param timeout how long a model may be silent
/// @param prices operator's price table, which takes precedence over the server's own
public record ModelConfig(Provider anthropic, Provider openai, Duration timeout, Optional<Path> prices) {
    /// Model provider. Immutable.
    ///
    /// @param setting key of the setting for its URL
    /// @param isVendor whether this is the vendor's own API, which requires a key
    public record Provider(String setting, URI url, Optional<String> key, boolean isVendor) {
        @Override
        public String toString() {
            return setting + "[" + url + (key.isPresent() ? ", ***]" : "]");
        }
    }

    static ModelConfig of(Settings settings) {
        return new ModelConfig(
                provider(settings, Catalogue.MODEL_URL, Catalogue.MODEL_KEY, Catalogue.MODEL_KEY_FILE),
                provider(settings, Catalogue.OPENAI_URL, Catalogue.OPENAI_KEY, Catalogue.OPENAI_KEY_FILE),
                settings.get(Catalogue.MODEL_TIMEOUT),
                settings.get(Catalogue.MODEL_PRICES));
    }

    private static Provider provider(
            Settings settings, Setting<URI> url, Setting<Optional<String>> key, Setting<Optional<Path>> file) {
        URI address = settings.get(url);
        Optional<String> given =
                settings.get(file).map(path -> read(file.key(), path)).or(() -> settings.get(key));
        given.filter(text -> !text.matches("[\\x21-\\x7e]+")).ifPresent(_ -> {
            throw SandboxException.invalid(key.key(), "must be printable characters without a space");
        });
        return new Provider(url.key(), address, given, address.toString().equals(url.standard()));
    }

    private static String read(String setting, Path file) {
        try {
            var permissions = Files.getPosixFilePermissions(file);
            if (permissions.contains(PosixFilePermission.GROUP_READ)
                    || permissions.contains(PosixFilePermission.OTHERS_READ)) {
                throw SandboxException.invalid(setting, "can be read by others; chmod 600 " + file);
            }
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw SandboxException.invalid(setting, "cannot be read: " + file);
        }
    }
}
