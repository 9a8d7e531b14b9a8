package dev.vivarium.core.watch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TextDiffTest {
    @Test
    void newFileHasDevNullAsSource() {
        assertThat(TextDiff.of("a", Optional.empty(), Optional.of("x\n")))
                .isEqualTo("--- /dev/null\n+++ b/a\n@@ -0,0 +1,1 @@\n+x\n");
    }

    @Test
    void missingFinalNewlineIsADifference() {
        assertThat(TextDiff.of("a", Optional.of("x\n"), Optional.of("x")))
                .isEqualTo("--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-x\n+x\n\\ No newline at end of file\n");
    }

    @Test
    void unrelatedTextsAreDiffedInOneHunk() {
        String old = lines(30_000, "a");
        String now = lines(30_000, "b");

        assertThat(TextDiff.of("big", Optional.of(old), Optional.of(now))).contains("@@ -1,30000 +1,30000 @@");
    }

    /// `git apply` verifies the result.
    @RepeatedTest(25)
    void diffAppliedToTheOldTextGivesTheNewText(RepetitionInfo repetition, @TempDir Path directory) throws Exception {
        var random = new Random(repetition.getCurrentRepetition());
        String old = text(random);
        String now = random.nextInt(4) == 0 ? text(random) : edited(old, random);
        if (old.equals(now)) {
            return;
        }
        Path file = Files.writeString(directory.resolve("f"), old);
        Path diff =
                Files.writeString(directory.resolve("f.diff"), TextDiff.of("f", Optional.of(old), Optional.of(now)));

        assertThat(patched(file, diff)).isEqualTo(now);
    }

    private static String patched(Path file, Path diff) throws IOException, InterruptedException {
        Process patch = new ProcessBuilder("git", "apply", "-p1", "--unidiff-zero", diff.toString())
                .directory(file.getParent().toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(patch.getInputStream().readAllBytes());
        assertThat(patch.waitFor()).as(output).isZero();
        return Files.readString(file);
    }

    private static String lines(int count, String prefix) {
        return java.util.stream.IntStream.range(0, count)
                .mapToObj(i -> prefix + i + "\n")
                .collect(Collectors.joining());
    }

    private static String text(Random random) {
        return random.ints(1 + random.nextInt(40), 0, 5)
                        .mapToObj(i -> "line " + i)
                        .collect(Collectors.joining("\n"))
                + (random.nextBoolean() ? "\n" : "");
    }

    private static String edited(String text, Random random) {
        var out = new StringBuilder();
        for (String line : text.split("(?<=\n)")) {
            switch (random.nextInt(6)) {
                case 0 -> {}
                case 1 -> out.append("new\n").append(line);
                default -> out.append(line);
            }
        }
        return out.toString();
    }
}
