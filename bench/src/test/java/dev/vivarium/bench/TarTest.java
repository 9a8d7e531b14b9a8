package dev.vivarium.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TarTest {
    @Test
    void tarExtractsTheArchive(@TempDir Path directory) throws Exception {
        Path archive = directory.resolve("a.tar");
        Files.write(archive, Tar.of("file", "hello\n".getBytes(StandardCharsets.UTF_8)));
        var tar = new ProcessBuilder("tar", "--extract", "--to-stdout", "--file", archive.toString(), "file")
                .redirectErrorStream(true)
                .start();
        assertThat(tar.getInputStream().readAllBytes()).isEqualTo("hello\n".getBytes(StandardCharsets.UTF_8));
        assertThat(tar.waitFor()).isZero();
    }
}
