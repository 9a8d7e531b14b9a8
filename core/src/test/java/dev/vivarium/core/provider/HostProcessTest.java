package dev.vivarium.core.provider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.model.SandboxException;
import org.junit.jupiter.api.Test;

class HostProcessTest {
    @Test
    void exitedProcessHasNoFiles() throws Exception {
        Process process = new ProcessBuilder("true").start();
        process.waitFor();
        assertThat(HostProcess.read(process.pid(), "stat")).isEmpty();
        assertThat(HostProcess.isAlive(process.pid())).isFalse();
    }

    @Test
    void readErrorIsNotMistakenForAnExitedProcess() {
        long self = ProcessHandle.current().pid();
        // Reading its first page fails with EIO.
        assertThatThrownBy(() -> HostProcess.read(self, "mem")).isInstanceOf(SandboxException.class);
    }
}
