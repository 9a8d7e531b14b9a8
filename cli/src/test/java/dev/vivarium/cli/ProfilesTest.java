package dev.vivarium.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProfilesTest {
    private static final Path FILE = Path.of("config.toml");

    @Test
    void sectionsCommentsAndQuotedValuesAreParsed() {
        var profiles = Profiles.parse(
                FILE,
                List.of(
                        "# mine",
                        "profile = 'work'",
                        "",
                        "[profile.work]  # the big one",
                        "server = \"https://viv.example/#here\"",
                        "user='ana'",
                        "[profile.home]",
                        "server = \"http://127.0.0.1:8000\""));

        assertThat(profiles.chosen()).isEqualTo("work");
        assertThat(profiles.require("work")).isEqualTo(Map.of("server", "https://viv.example/#here", "user", "ana"));
        assertThat(profiles.require("default")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"server = \"x\"", "[profile.]", "[other]", "nonsense", "[profile.a]x", "profile = work"})
    void invalidLineIsReportedWithItsNumber(String line) {
        assertThatThrownBy(() -> Profiles.parse(FILE, List.of("", line))).hasMessageContaining("config.toml line 2");
    }

    @Test
    void unknownSettingIsRejected() {
        assertThatThrownBy(() -> Profiles.parse(FILE, List.of("[profile.a]", "token = 'x'")))
                .hasMessageContaining("line 2");
    }
}
