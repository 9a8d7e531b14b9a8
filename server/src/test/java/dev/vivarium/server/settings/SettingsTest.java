package dev.vivarium.server.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.policy.CommandPolicy;
import dev.vivarium.policy.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SettingsTest {
    @TempDir
    Path directory;

    @Test
    void defaultsMatchTheReference() {
        var config = read(List.of(), Map.of());

        assertThat(config.http().host()).isEqualTo("127.0.0.1");
        assertThat(config.http().port()).isEqualTo(8000);
        assertThat(config.home()).isEqualTo(Path.of(System.getProperty("user.home"), ".vivarium"));
        assertThat(config.engine().sandboxes().times().idle()).isEqualTo(Duration.ofMinutes(30));
        assertThat(config.calls().uploads().maxFileBytes()).isEqualTo(100L << 20);
        assertThat(config.calls().uploads().maxFiles()).isEqualTo(1000);
        assertThat(config.calls().uploads().maxTotalBytes()).isEqualTo(500L << 20);
        assertThat(config.calls().policy().mode()).isEqualTo(CommandPolicy.Mode.OPEN);
    }

    @Test
    void compatibleVariableNamesAreAccepted() {
        var config = read(
                List.of(),
                Map.of(
                        "POOL_SIZE", "3",
                        "SESSION_TIMEOUT_MINUTES", "5",
                        "MAX_FILE_SIZE_MB", "7",
                        "MAX_TOTAL_FILES", "8",
                        "MAX_WORKSPACE_SIZE_MB", "9",
                        "WORKER_ID", "w9",
                        "PORT", "5000",
                        "REDIS_HOST", "redis",
                        "REDIS_PORT", "6379"));

        assertThat(config.engine().sandboxes().room().poolSize()).isEqualTo(3);
        assertThat(config.engine().sandboxes().times().idle()).isEqualTo(Duration.ofMinutes(5));
        assertThat(config.calls().uploads().maxFileBytes()).isEqualTo(7L << 20);
        assertThat(config.calls().uploads().maxFiles()).isEqualTo(8);
        assertThat(config.calls().uploads().maxTotalBytes()).isEqualTo(9L << 20);
        assertThat(config.workerId()).isEqualTo("w9");
        assertThat(config.http().port()).isEqualTo(5000);
        assertThat(config.redisHost()).contains("redis");
    }

    @Test
    void argumentsOverrideEnvironmentAndEnvironmentOverridesFile() throws IOException {
        yaml("port: 1\npool-size: 1\nprocesses: 101\n");

        var config = read(List.of("--port=3"), Map.of("VIV_PORT", "2", "PORT", "4", "VIV_POOL_SIZE", "2"));

        assertThat(config.http().port()).isEqualTo(3);
        assertThat(config.engine().sandboxes().room().poolSize()).isEqualTo(2);
        assertThat(config.engine().sandboxes().limits().processes()).isEqualTo(101);
    }

    @Test
    void variablesOfTheCommandLineAreAccepted() {
        var environment = Map.of("VIV_PROFILE", "work", "VIV_CONFIG_FILE", "/etc/viv.toml", "VIV_DEBUG", "1");

        assertThat(read(List.of(), environment).http().port()).isEqualTo(8000);
        assertThat(Settings.withoutEffect(environment)).isEmpty();
    }

    @Test
    void variablesWithoutEffectAreReported() {
        assertThat(Settings.withoutEffect(Map.of("WORKERS", "http://worker1:5000", "IDLE_THRESHOLD_MINUTES", "5")))
                .containsExactly("WORKERS is set, but has no effect: this version runs on one machine");
    }

    @Test
    void idleDetectionHasTheNamesOfOtherServers() {
        var idle = read(
                        List.of(),
                        Map.of(
                                "IDLE_DETECTION_ENABLED",
                                "false",
                                "IDLE_THRESHOLD_MINUTES",
                                "5",
                                "IDLE_CHECK_INTERVAL_SECONDS",
                                "10"))
                .runs()
                .liveness()
                .idle();

        assertThat(idle.isEnabled()).isFalse();
        assertThat(idle.threshold()).isEqualTo(Duration.ofMinutes(5));
        assertThat(idle.every()).isEqualTo(Duration.ofSeconds(10));
    }

    @Test
    void ownVariableOverridesTheCompatibleOne() {
        assertThat(read(List.of(), Map.of("VIV_PORT", "2", "PORT", "4")).http().port())
                .isEqualTo(2);
    }

    @Test
    void emptyCommandListIsNotReplacedByTheBuiltInList() throws IOException {
        yaml("command-policy: allowlist\nallowed-commands: []\n");
        var fromFile = read(List.of(), Map.of()).calls().policy();
        var fromVariable = read(List.of(), Map.of("VIV_COMMAND_POLICY", "allowlist", "VIV_ALLOWED_COMMANDS", ""))
                .calls()
                .policy();

        assertThat(fromFile.allowedCommands()).isEmpty();
        assertThat(fromVariable.allowedCommands()).isEmpty();
        assertThat(fromFile.check("ls")).isInstanceOf(Verdict.Refused.class);
    }

    @Test
    void fileMayContainLists() throws IOException {
        yaml("command-policy: allowlist\nallowed-commands: [ls, cat]\ndenied-patterns:\n  - '\\bsecret,s\\b'\n");

        var policy = read(List.of(), Map.of()).calls().policy();

        assertThat(policy.allowedCommands()).containsExactlyInAnyOrder("cat", "ls");
        assertThat(policy.deniedPatterns()).containsExactly("\\bsecret,s\\b");
    }

    @Test
    void fileInHomeIsFound() throws IOException {
        Path home = Files.createDirectory(directory.resolve("home"));
        Files.writeString(home.resolve("vivarium.yaml"), "port: 77\n");

        assertThat(read(List.of("--home", home.toString()), Map.of()).http().port())
                .isEqualTo(77);
    }

    @Test
    void configuredFileMustExist() {
        assertThatThrownBy(() -> read(List.of("--config", "nowhere.yaml"), Map.of()))
                .hasMessageContaining("nowhere.yaml");
    }

    @ParameterizedTest
    @CsvSource({
        "--prot, 1, --port",
        "--pool_size, 1, --pool-size",
    })
    void unknownFlagIsRejectedWithASuggestion(String flag, String value, String nearest) {
        assertThatThrownBy(() -> read(List.of(flag, value), Map.of()))
                .hasMessage(flag + " is not a setting; did you mean " + nearest + "?");
    }

    @Test
    void unknownVariableIsRejectedWithASuggestion() {
        assertThatThrownBy(() -> read(List.of(), Map.of("VIV_POLSIZE", "1")))
                .hasMessage("VIV_POLSIZE is not a setting; did you mean VIV_POOL_SIZE?");
    }

    @Test
    void unrelatedVariablesAreIgnored() {
        assertThat(read(
                        List.of(),
                        Map.of(
                                "PATH", "/bin",
                                "VIV_SERVER", "http://x",
                                "VIV_PROFILE", "work",
                                "VIV_CONFIG_FILE", "/x",
                                "VIV_JAVA_OPTS", "-Xmx1g")))
                .isNotNull();
    }

    @Test
    void unknownKeyOfTheFileIsRejectedWithASuggestion() throws IOException {
        yaml("max-sandboxs: 3\n");

        assertThatThrownBy(() -> read(List.of(), Map.of()))
                .hasMessage("'max-sandboxs' in vivarium.yaml is not a setting; did you mean max-sandboxes?");
    }

    @ParameterizedTest
    @CsvSource({
        "--port, 70000, must be between 0 and 65535",
        "--port, eight, 'must be a whole number, not ''eight'''",
        "--max-sandboxes, 0, must be between 1 and 1000000",
        "--rate-event-mb, 50001, must be between 1 and 50000",
        "--session-timeout-minutes, -1, must be between 0.01 and 525600",
        "--command-policy, closed, 'must be one of open, allowlist'",
        "--provider, docker, 'docker'' is not in this version; choose oci, or process for a laptop'",
    })
    void invalidValueIsReportedWithItsKeyAndRule(String flag, String value, String rule) {
        assertThatThrownBy(() -> read(List.of(flag, value), Map.of()))
                .hasMessageStartingWith(flag + " ")
                .hasMessageContaining(rule);
    }

    @Test
    void invalidVariableIsReportedByItsGivenName() {
        assertThatThrownBy(() -> read(List.of(), Map.of("MAX_FILE_SIZE_MB", "big")))
                .hasMessageStartingWith("MAX_FILE_SIZE_MB must be");
    }

    @Test
    void flagNeedsExactlyOneValue() {
        assertThatThrownBy(() -> read(List.of("--port"), Map.of())).hasMessage("--port needs a value");
        assertThatThrownBy(() -> read(List.of("--port", "1", "--port", "2"), Map.of()))
                .hasMessage("--port is given twice");
    }

    @Test
    void fileThatIsNotYamlIsRejected() throws IOException {
        yaml("a: [\n");

        assertThatThrownBy(() -> read(List.of(), Map.of())).hasMessageContaining("is not YAML");
    }

    @Test
    void duplicateKeyInTheFileIsRejected() throws IOException {
        yaml("port: 1\nport: 2\n");

        assertThatThrownBy(() -> read(List.of(), Map.of())).hasMessageContaining("port");
    }

    @Test
    void apiKeyIsNeverPrinted() {
        var settings = Settings.read(List.of("--api-key", "correct-horse-battery"), Map.of(), directory);

        assertThat(settings.chosen().toString()).contains("***").doesNotContain("horse");
        assertThat(Config.of(settings).toString()).doesNotContain("horse");
    }

    private Config read(List<String> arguments, Map<String, String> environment) {
        return Config.of(Settings.read(arguments, environment, directory));
    }

    private void yaml(String text) throws IOException {
        Files.writeString(directory.resolve("vivarium.yaml"), text);
    }

    @Test
    void adoptIsACommandLineFlagOnly() {
        assertThat(Usage.hasAdopt(List.of("--port", "1", "--adopt"))).isTrue();
        assertThat(Usage.settings(List.of("--adopt", "--port", "1"))).containsExactly("--port", "1");
        assertThat(Usage.help()).contains("--adopt");
        assertThatThrownBy(() -> Usage.hasAdopt(List.of("--adopt=yes"))).hasMessageContaining("takes no value");
        assertThatThrownBy(() -> read(List.of("--adop", "1"), Map.of())).hasMessageContaining("did you mean --adopt");
        assertThatThrownBy(() -> read(List.of(), Map.of("VIV_ADOPT", "1"))).hasMessageContaining("is not a setting");
    }

    @Test
    void helpListsEverySettingWithItsMeaning() {
        assertThat(Catalogue.ALL)
                .allSatisfy(setting -> assertThat(Usage.help())
                        .contains("--" + setting.key())
                        .contains(setting.meaning().replace("`", "")));
    }
}
