package dev.vivarium.core.git;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.model.BranchName;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class RefAdvertisementTest {
    private static final String ONE = "1".repeat(40);
    private static final String TWO = "2".repeat(40);

    private static RefAdvertisement of(String... lines) {
        var bytes = new ByteArrayOutputStream();
        bytes.writeBytes(PacketLines.packet("# service=git-upload-pack\n"));
        bytes.writeBytes("0000".getBytes(StandardCharsets.UTF_8));
        for (String line : lines) {
            bytes.writeBytes(PacketLines.packet(line + "\n"));
        }
        bytes.writeBytes("0000".getBytes(StandardCharsets.UTF_8));
        return RefAdvertisement.of(bytes.toByteArray());
    }

    @Test
    void branchesAndTheDefaultBranchAreRead() {
        var refs = of(
                ONE + " HEAD\0multi_ack symref=HEAD:refs/heads/trunk agent=git/2",
                TWO + " refs/heads/other",
                ONE + " refs/heads/trunk");

        assertThat(refs.defaultBranch()).contains(new BranchName("trunk"));
        assertThat(refs.has(new BranchName("other"))).isTrue();
        assertThat(refs.has(new BranchName("none"))).isFalse();
    }

    @Test
    void aServerThatNamesNoDefaultBranchHasTheOneOfItsHead() {
        assertThat(of(ONE + " HEAD\0x", TWO + " refs/heads/a", ONE + " refs/heads/b")
                        .defaultBranch())
                .contains(new BranchName("b"));
    }

    @Test
    void anEmptyRepositoryHasNoDefaultBranch() {
        assertThat(of("0".repeat(40) + " capabilities^{}\0symref=HEAD:refs/heads/main")
                        .defaultBranch())
                .isEmpty();
    }

    @Test
    void theDigestChangesWithTheBranches() {
        var one = of(ONE + " refs/heads/a\0x", ONE + " refs/pull/1/head");
        assertThat(one.digest()).isEqualTo(of(ONE + " refs/heads/a\0y").digest());
        assertThat(one.digest()).isNotEqualTo(of(TWO + " refs/heads/a\0x").digest());
    }

    @Test
    void aPageIsNoAdvertisement() {
        assertThatThrownBy(() -> RefAdvertisement.of("<html>".getBytes(StandardCharsets.UTF_8)))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
