package dev.vivarium.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class OptionsTest {
    @Test
    void defaultOptionsMeasureEverything() {
        assertThat(Options.parse(List.of())).isEqualTo(Options.STANDARD);
    }

    @Test
    void everyOptionIsParsed() {
        var options = Options.parse(List.of(
                "--quick", "--only", "exec", "--no-docker", "--strict", "--launcher", "viv", "--out", "x.json"));
        assertThat(options.length()).isEqualTo(Options.Length.QUICK);
        assertThat(options.only()).contains("exec");
        assertThat(options.docker()).isEqualTo(Options.Engine.NEVER);
        assertThat(options.misses()).isEqualTo(Options.Misses.FAIL);
        assertThat(options.launcher()).isEqualTo(Path.of("viv"));
        assertThat(options.output()).isEqualTo(Path.of("x.json"));
    }

    @Test
    void unknownOptionAndMissingValueAreReported() {
        assertThatThrownBy(() -> Options.parse(List.of("--fast"))).hasMessage("unknown option --fast");
        assertThatThrownBy(() -> Options.parse(List.of("--only"))).hasMessage("--only needs a value");
    }
}
