package dev.vivarium.server.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.core.egress.Credential;
import dev.vivarium.core.egress.EgressConfig;
import dev.vivarium.model.HostName;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EgressSettingsTest {
    @TempDir
    Path directory;

    private EgressConfig read(String... arguments) {
        return Config.of(Settings.read(List.of(arguments), Map.of(), directory)).egress();
    }

    private Path file(String text, String mode) throws IOException {
        Path file = directory.resolve("credentials.txt");
        Files.writeString(file, text);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
    }

    @Test
    void defaultsAllowNothingAndLimitNothing() {
        var config = read();
        assertThat(config.standard().isEmpty()).isTrue();
        assertThat(config.maximum().texts()).containsExactly("*:*");
        assertThat(config.privateAddresses()).isEmpty();
        assertThat(config.credentials()).isEmpty();
        assertThat(config.connections()).isEqualTo(128);
    }

    @Test
    void listsAreSeparatedByCommasSpacesOrLines() {
        var config = read(
                "--egress-default",
                "pypi.org, files.pythonhosted.org",
                "--egress-most",
                "*.org\n*.com:443",
                "--egress-private",
                "10.0.0.0/8 fd00::/8");
        assertThat(config.standard().texts()).containsExactly("pypi.org", "files.pythonhosted.org");
        assertThat(config.maximum().texts()).containsExactly("*.org", "*.com:443");
        assertThat(config.privateAddresses()).hasSize(2);
        assertThat(read("--egress-most", "-").maximum().isEmpty()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "--egress-default, http://x, egress-default",
        "--egress-most, a b c/d, egress-most",
        "--egress-private, example.com, egress-private",
        "--egress-private, 10.0.0.0/33, egress-private",
        "--egress-connections, 0, egress-connections",
        "--egress-credentials, /no/such/file, egress-credentials",
        "--egress-ca, /no/such/file, egress-ca"
    })
    void invalidSettingIsReportedWithItsName(String flag, String value, String name) {
        assertThatThrownBy(() -> read(flag, value)).hasMessageContaining(name);
    }

    @Test
    void defaultListMustBeWithinTheLimit() {
        assertThatThrownBy(() -> read("--egress-default", "a.test", "--egress-most", "b.test"))
                .hasMessageContaining("a.test");
    }

    @Test
    void variablesInCredentialsAreExpanded() throws IOException {
        Path file = file(
                "# ours\n\napi.example.com Authorization Bearer ${TOKEN}\nother.example.com:8443\tX-Api-Key a b\n",
                "rw-------");
        assertThat(new CredentialFile(file, Map.of("TOKEN", "t$0ken")).read())
                .containsExactly(
                        new Credential(HostName.of("api.example.com"), 443, "Authorization", "Bearer t$0ken"),
                        new Credential(HostName.of("other.example.com"), 8443, "X-Api-Key", "a b"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "api.example.com Authorization",
                "api.example.com",
                "http://api.example.com Authorization hunter2",
                "*.example.com Authorization hunter2",
                "api.example.com Host hunter2",
                "api.example.com Bad:Name hunter2",
                "api.example.com Authorization hunter2 ${NOT_SET}"
            })
    void invalidLineIsReportedByNumberWithoutItsContent(String line) throws IOException {
        Path file = file("# first\n" + line + "\n", "rw-------");
        assertThatThrownBy(() -> new CredentialFile(file, Map.of()).read())
                .hasMessageContaining("line 2")
                .hasMessageNotContaining("hunter2");
    }

    @Test
    void credentialsFileReadableByOthersIsRejected() throws IOException {
        Path file = file("api.example.com Authorization x\n", "rw-r-----");
        assertThatThrownBy(() -> new CredentialFile(file, Map.of()).read()).hasMessageContaining("chmod 600");
    }

    @Test
    void printedConfigContainsNoSecret() throws IOException {
        Path file = file("api.example.com Authorization hunter2\n", "rw-------");
        var settings = Settings.read(List.of("--egress-credentials", file.toString()), Map.of(), directory);
        var config = Config.of(settings);
        assertThat(config.egress().credentials()).hasSize(1);
        assertThat(config.toString() + config.egress() + settings.chosen()).doesNotContain("hunter2");
    }
}
