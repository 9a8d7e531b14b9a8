package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.core.provider.oci.OciConfig;
import dev.vivarium.core.provider.oci.OciProvider;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/// Contract of machines that an OCI runtime program of the host starts.
abstract class OciRuntimeContract extends OciContract {
    @Test
    void failingRuntimeLeavesNothing() throws IOException {
        var id = newId();
        var broken = Files.createDirectory(home.resolve("broken"));
        try (var other = OciProvider.open(new OciConfig(broken, programs, runtime(), Path.of("/bin/false")))) {
            assertThatThrownBy(() -> other.start(spec(id))).isInstanceOf(SandboxException.class);
            assertThat(other.survivors()).isEmpty();
        }
        assertThat(HostTraces.of(id, home)).isEmpty();
    }

    @Test
    void failureContainsTheLaunchersMessage() {
        var config = new OciConfig(home.resolve("other"), programs, runtime(), Path.of("/no/such/runtime"));
        try (var other = OciProvider.open(config)) {
            assertThatThrownBy(() -> other.start(spec(newId()))).hasMessageContaining("/no/such/runtime: no such file");
        }
    }
}
