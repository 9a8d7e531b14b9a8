package dev.vivarium.server.settings;

import dev.vivarium.core.egress.AddressBlock;
import dev.vivarium.core.egress.Credential;
import dev.vivarium.core.egress.EgressConfig;
import dev.vivarium.core.egress.Resolver;
import dev.vivarium.model.Egress;
import dev.vivarium.model.SandboxException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import javax.net.ssl.SSLSocketFactory;

/// Parser for the operator's egress settings. Stateless.
final class EgressSettings {
    /// Value for an empty list, because an empty setting counts as absent.
    private static final String NONE = "-";

    private EgressSettings() {}

    static EgressConfig of(Settings settings) {
        Egress maximum = hosts(settings, Catalogue.EGRESS_MOST);
        Egress standard = hosts(settings, Catalogue.EGRESS_DEFAULT);
        standard.findBeyond(maximum).ifPresent(rule -> {
            throw SandboxException.invalid(
                    Catalogue.EGRESS_DEFAULT.key(), "allows " + rule + ", which egress-most does not");
        });
        return new EgressConfig(
                standard,
                maximum,
                blocks(settings, Catalogue.EGRESS_PRIVATE),
                settings.get(Catalogue.EGRESS_CREDENTIALS)
                        .map(EgressSettings::credentials)
                        .orElse(List.of()),
                settings.get(Catalogue.EGRESS_CONNECTIONS),
                Resolver.system(),
                settings.get(Catalogue.EGRESS_CA).map(EgressSettings::trusting).orElse(EgressConfig::systemTls));
    }

    private static Egress hosts(Settings settings, Setting<Optional<List<String>>> setting) {
        return Egress.of(setting.key(), words(settings.get(setting)));
    }

    static List<AddressBlock> blocks(Settings settings, Setting<Optional<List<String>>> setting) {
        try {
            return words(settings.get(setting)).stream().map(AddressBlock::of).toList();
        } catch (IllegalArgumentException e) {
            throw SandboxException.invalid(setting.key(), String.valueOf(e.getMessage()));
        }
    }

    /// Splits lists on one line. Hosts and addresses contain no space and no comma.
    private static List<String> words(Optional<List<String>> lines) {
        return lines.orElse(List.of()).stream()
                .flatMap(line -> Arrays.stream(line.split("[\\s,]+")))
                .filter(word -> !word.isEmpty() && !word.equals(NONE))
                .toList();
    }

    private static List<Credential> credentials(Path file) {
        return new CredentialFile(file, System.getenv()).read();
    }

    private static Supplier<SSLSocketFactory> trusting(Path authorities) {
        SSLSocketFactory made = CertificateAuthorities.trusting(authorities);
        return () -> made;
    }
}
