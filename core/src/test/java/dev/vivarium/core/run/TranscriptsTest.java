package dev.vivarium.core.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.run.FileMirror.Copy;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TranscriptsTest {
    private static final Instant NOW = Instant.parse("2026-01-01T10:00:00Z");

    @TempDir
    private Path root;

    @Test
    void pruningDeletesExpiredAndOldestTranscripts() throws IOException {
        SandboxId ancient = transcript(1, Duration.ofHours(3));
        SandboxId old = transcript(2, Duration.ofMinutes(30));
        SandboxId newer = transcript(3, Duration.ofMinutes(20));
        SandboxId newest = transcript(4, Duration.ofMinutes(10));

        var retention = new Transcripts.Retention(Duration.ofHours(1), 2500);
        var transcripts = new Transcripts(root, retention, InstantSource.fixed(NOW));
        transcripts.prune(sandbox -> false);

        assertThat(transcripts.has(newest)).isTrue();
        assertThat(transcripts.has(newer)).isTrue();
        assertThat(transcripts.has(old)).isFalse();
        assertThat(transcripts.has(ancient)).isFalse();
    }

    @Test
    void activeTranscriptsAreKeptAndCountAgainstTheLimit() throws IOException {
        SandboxId old = transcript(1, Duration.ofHours(3));
        SandboxId newer = transcript(2, Duration.ofMinutes(20));
        SandboxId newest = transcript(3, Duration.ofMinutes(10));

        var transcripts =
                new Transcripts(root, new Transcripts.Retention(Duration.ofHours(1), 500), InstantSource.fixed(NOW));
        transcripts.prune(Set.of(old, newest)::contains);

        assertThat(transcripts.has(old)).isTrue();
        assertThat(transcripts.has(newest)).isTrue();
        assertThat(transcripts.has(newer)).isFalse();
    }

    @Test
    void unreadableEntryDoesNotStopPruning() throws IOException {
        SandboxId broken = SandboxId.random(new Random(9));
        Files.writeString(root.resolve(broken.value()), "no directory");
        SandboxId ancient = transcript(1, Duration.ofHours(3));

        var transcripts =
                new Transcripts(root, new Transcripts.Retention(Duration.ofHours(1), 5000), InstantSource.fixed(NOW));
        transcripts.prune(sandbox -> false);

        assertThat(transcripts.has(ancient)).isFalse();
        assertThat(root.resolve(broken.value())).exists();
    }

    @Test
    void incompleteTranscriptIsNotFound() throws IOException {
        SandboxId sandbox = transcript(1, Duration.ofMinutes(1));
        var transcripts =
                new Transcripts(root, new Transcripts.Retention(Duration.ofHours(1), 5000), InstantSource.fixed(NOW));
        assertThat(transcripts.has(sandbox)).isTrue();

        Files.delete(new FileMirror(root.resolve(sandbox.value())).file("one.jsonl"));

        assertThat(transcripts.has(sandbox)).isFalse();
    }

    /// Creates a transcript of a little more than 1000 bytes.
    private SandboxId transcript(int seed, Duration age) throws IOException {
        SandboxId sandbox = SandboxId.random(new Random(seed));
        Path directory = root.resolve(sandbox.value());
        var fileMirror = new FileMirror(directory);
        fileMirror.make();
        Files.write(fileMirror.file("one.jsonl"), new byte[1000]);
        fileMirror.commit(List.of(new Copy("one.jsonl", 1000, 0)));
        Files.setLastModifiedTime(directory, FileTime.from(NOW.minus(age)));
        return sandbox;
    }
}
