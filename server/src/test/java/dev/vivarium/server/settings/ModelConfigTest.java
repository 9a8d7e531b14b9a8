package dev.vivarium.server.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Addresses and keys of the model APIs.
class ModelConfigTest {
    @TempDir
    Path directory;

    @Test
    void defaultsAreTheVendorsApis() {
        var config = config(Map.of());

        assertThat(config.anthropic().url()).hasToString("https://api.anthropic.com");
        assertThat(config.openai().url()).hasToString("https://api.openai.com");
        assertThat(config.anthropic().isVendor()).isTrue();
        assertThat(config.anthropic().key()).isEmpty();
        assertThat(config.timeout()).isEqualTo(Duration.ofMinutes(10));
    }

    @Test
    void keyIsReadFromEverySourceAndNeverPrinted() throws IOException {
        var settings =
                Settings.read(List.of("--openai-key", "sk-two"), Map.of("ANTHROPIC_API_KEY", "sk-one"), directory);
        var config = ModelConfig.of(settings);

        assertThat(config.anthropic().key()).contains("sk-one");
        assertThat(config.openai().key()).contains("sk-two");
        assertThat(config.toString() + settings.chosen()).doesNotContain("sk-one", "sk-two");
        Path file = Files.writeString(directory.resolve("key"), "sk-three\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        assertThat(config(Map.of("VIV_MODEL_KEY_FILE", file.toString()))
                        .anthropic()
                        .key())
                .contains("sk-three");
    }

    @Test
    void keyFileReadableByOthersIsRejected() throws IOException {
        Path file = Files.writeString(directory.resolve("key"), "sk-three\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));

        assertThatThrownBy(() -> config(Map.of("VIV_MODEL_KEY_FILE", file.toString())))
                .hasMessageContaining("chmod 600");
        assertThatThrownBy(() -> config(Map.of("VIV_OPENAI_KEY_FILE", "/not/there")))
                .hasMessageContaining("openai-key-file");
        assertThatThrownBy(() -> config(Map.of("VIV_MODEL_KEY", "two words"))).hasMessageContaining("model-key");
    }

    private ModelConfig config(Map<String, String> environment) {
        return ModelConfig.of(Settings.read(List.of(), environment, directory));
    }
}
