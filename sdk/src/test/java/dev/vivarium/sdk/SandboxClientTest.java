package dev.vivarium.sdk;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.model.SandboxException;
import java.net.URI;
import org.junit.jupiter.api.Test;

class SandboxClientTest {
    @Test
    void missingLocalModuleIsReportedWithItsName() {
        assertThatThrownBy(SandboxClient::local)
                .isInstanceOf(SandboxException.class)
                .hasMessageContaining("add dev.vivarium:vivarium-sdk-local to run sandboxes in this process");
    }

    @Test
    void invalidAddressIsRejected() {
        assertThatThrownBy(() -> SandboxClient.remote(URI.create("localhost:8000"), "e2b_x"))
                .isInstanceOf(SandboxException.class)
                .hasMessageContaining("must be an address like http://127.0.0.1:8000");
    }

    @Test
    void keyWithALineBreakIsRejected() {
        assertThatThrownBy(() -> SandboxClient.remote(URI.create("http://127.0.0.1:1"), "e2b_x\nX-Evil: 1"))
                .isInstanceOf(SandboxException.class)
                .hasMessageContaining("must be printable characters");
    }
}
