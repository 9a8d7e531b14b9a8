package dev.vivarium.core.provider;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileTreesTest {
    @TempDir
    private Path directory;

    @Test
    void deleteRemovesVeryDeepTreesAndFollowsNoLinks() throws Exception {
        Path kept = Files.createDirectory(directory.resolve("kept"));
        Files.createFile(kept.resolve("file"));
        Path tree = Files.createDirectory(directory.resolve("-tree"));
        String descend = "ln -s \"$1\" link; for i in $(seq 25); do"
                + " d=$(printf 'd%0199d' 0); mkdir $d && cd -P $d || exit 1; done; ln -s \"$1\" link";
        int exit = new ProcessBuilder("sh", "-c", descend, "sh", kept.toString())
                .directory(tree.toFile())
                .start()
                .waitFor();
        assertThat(exit).isZero();

        FileTrees.delete(tree);

        assertThat(tree).doesNotExist();
        assertThat(kept.resolve("file")).exists();
    }
}
