package dev.vivarium.cli.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.cli.sync.Plan.Deletes;
import dev.vivarium.cli.sync.Plan.Direction;
import dev.vivarium.cli.sync.Plan.Prefer;
import dev.vivarium.cli.sync.Sync.News;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A real directory synchronised with an in-memory side. Tests with a server cover the data plane.
class SyncTest {
    private static final List<String> NAMES = List.of("a.txt", "b", "sub/c.txt", "sub/deep/d");

    private final Bucket there = new Bucket();
    private final List<News> news = new ArrayList<>();

    @TempDir
    private Path scratch;

    private Path root;
    private Sync sync;

    @BeforeEach
    void begin() throws IOException {
        root = Files.createDirectory(scratch.resolve("here"));
        sync = sync(Direction.BOTH);
    }

    @Test
    void filesAndDeletesAreCopiedBothWays() throws IOException {
        write("mine.txt", "1");
        there.put("sub/theirs.txt", "2");
        round();
        assertThat(here()).isEqualTo(Map.of("mine.txt", "1", "sub/theirs.txt", "2"));
        assertThat(there.texts()).isEqualTo(here());

        Files.delete(root.resolve("mine.txt"));
        there.files.remove("sub/theirs.txt");
        round();
        assertThat(here()).isEmpty();
        assertThat(there.texts()).isEmpty();
        assertThat(root.resolve("sub")).doesNotExist();
    }

    @Test
    void conflictKeepsBothVersionsUntilTheCopyIsRemoved() throws IOException {
        write("f.txt", "base");
        round();
        write("f.txt", "mine");
        there.put("f.txt", "theirs");
        round();
        round();

        var conflict = (News.Conflict) news.getFirst();
        assertThat(root.resolve("f.txt")).hasContent("mine");
        assertThat(root.resolve(conflict.copy())).hasContent("theirs");
        assertThat(there.texts()).isEqualTo(Map.of("f.txt", "theirs"));

        write("f.txt", "merged");
        Files.delete(root.resolve(conflict.copy()));
        round();
        assertThat(there.texts()).isEqualTo(Map.of("f.txt", "merged"));
        assertThat(here()).isEqualTo(Map.of("f.txt", "merged"));
    }

    @Test
    void executableBitIsCopied() throws IOException {
        Path script = write("run.sh", "#!/bin/sh");
        assertThat(script.toFile().setExecutable(true)).isTrue();
        round();
        assertThat(there.files.get("run.sh").version().executable()).isTrue();
    }

    @Test
    void unsafeRemoteNamesAreSkipped() throws IOException {
        Path outside = Files.createDirectory(scratch.resolve("outside"));
        Files.createSymbolicLink(root.resolve("link"), outside);
        for (String name : List.of("../escaped", "/absolute", "link/through", "A", "a")) {
            there.put(name, "x");
        }
        round();
        assertThat(outside).isEmptyDirectory();
        assertThat(scratch.resolve("escaped")).doesNotExist();
        assertThat(here()).isEmpty();
        assertThat(news).filteredOn(News.Skipped.class::isInstance).hasSizeGreaterThanOrEqualTo(5);
        assertThatThrownBy(() -> new Folder(root).open("../outside")).isInstanceOf(IOException.class);
    }

    @Test
    void fileThatChangesDuringTheReadIsReadAgain() throws IOException {
        there.put("f", "one");
        there.onOpen = () -> there.put("f", "two!");
        round();
        there.onOpen = () -> {};
        round();
        assertThat(here()).isEqualTo(Map.of("f", "two!"));
    }

    @Test
    void concurrentRemoteWriteIsNotOverwritten() throws IOException {
        write("f", "base");
        round();
        write("f", "mine");
        there.onWrite = () -> there.put("f", "theirs");
        round();
        there.onWrite = () -> {};
        assertThat(there.texts()).containsEntry("f", "theirs");
        round();
        assertThat(news).anyMatch(News.Conflict.class::isInstance);
    }

    @Test
    void pushAndPullChangeOneSideOnly() throws IOException {
        write("mine", "1");
        there.put("theirs", "2");
        sync = sync(Direction.PUSH);
        round();
        assertThat(here()).isEqualTo(Map.of("mine", "1"));
        sync = sync(Direction.PULL);
        write("more", "3");
        round();
        assertThat(there.texts()).isEqualTo(Map.of("mine", "1", "theirs", "2"));
        assertThat(here()).containsKeys("theirs", "more");
    }

    @Test
    void ignoredFilesAreNeitherCopiedNorDeleted() throws IOException {
        write("node_modules/x", "1");
        there.put(".git/config", "2");
        round();
        assertThat(there.texts()).isEqualTo(Map.of(".git/config", "2"));
        assertThat(here()).isEqualTo(Map.of("node_modules/x", "1"));
    }

    /// Random changes on both sides: sync loses no content that its own side did not replace.
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
    void syncLosesNothingAndConverges(long seed) throws IOException {
        var random = new Random(seed);
        for (int round = 0; round < 15; round++) {
            var written = new TreeSet<String>();
            for (int i = 0; i < 4; i++) {
                disturb(random, "s" + seed + "r" + round + "i" + i, written);
            }
            var wanted = surviving(written);
            round();
            var everything = new TreeSet<>(here().values());
            everything.addAll(there.texts().values());
            assertThat(everything).containsAll(wanted);
            if (random.nextBoolean()) {
                removeCopies();
            }
        }
        for (int i = 0; i < 4; i++) {
            removeCopies();
            round();
        }
        assertThat(there.texts()).isEqualTo(here());
    }

    private void disturb(Random random, String text, TreeSet<String> written) throws IOException {
        String name = NAMES.get(random.nextInt(NAMES.size()));
        switch (random.nextInt(4)) {
            case 0 -> write(name, text);
            case 1 -> there.put(name, text);
            case 2 -> Files.deleteIfExists(root.resolve(name));
            default -> there.files.remove(name);
        }
        written.add(text);
    }

    private TreeSet<String> surviving(TreeSet<String> written) throws IOException {
        var alive = new TreeSet<>(here().values());
        alive.addAll(there.texts().values());
        alive.retainAll(written);
        return alive;
    }

    private void removeCopies() throws IOException {
        for (String name : here().keySet()) {
            if (name.contains(".remote-")) {
                Files.delete(root.resolve(name));
            }
        }
    }

    private void round() throws IOException {
        news.clear();
        sync.run(Sync.Mode.APPLY, news::add);
    }

    private Sync sync(Direction direction) throws IOException {
        var memory = Memory.load(scratch.resolve("memory.json"));
        var plan = new Plan(direction, Deletes.CARRIED, Prefer.NEITHER);
        return new Sync(new Folder(root), there, memory, Ignore.of(List.of()), plan);
    }

    private Path write(String name, String text) throws IOException {
        Path file = root.resolve(name);
        Files.createDirectories(file.getParent());
        return Files.writeString(file, text);
    }

    private Map<String, String> here() throws IOException {
        var texts = new TreeMap<String, String>();
        try (var files = Files.walk(root)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                texts.put(root.relativize(file).toString(), Files.readString(file));
            }
        }
        return texts;
    }

    /// In-memory side.
    private static final class Bucket implements Side {
        private final Map<String, Item> files = new HashMap<>();
        private Runnable onOpen = () -> {};
        private Runnable onWrite = () -> {};

        private record Item(String text, Version version) {}

        void put(String path, String text) {
            files.put(path, item(text, false));
        }

        Map<String, String> texts() {
            var texts = new TreeMap<String, String>();
            files.forEach((path, item) -> texts.put(path, item.text()));
            return texts;
        }

        private static Item item(String text, boolean executable) {
            var digest = Hashes.begin();
            digest.update(text.getBytes(StandardCharsets.UTF_8));
            return new Item(text, new Version(Hashes.end(digest), executable));
        }

        @Override
        public Scan scan(Ignore ignore) {
            var skipped = Names.refused(files.keySet());
            var versions = new TreeMap<String, Version>();
            files.forEach((path, item) -> versions.put(path, item.version()));
            versions.keySet().removeAll(skipped.keySet());
            return new Scan(versions, skipped);
        }

        @Override
        public Content open(String path) {
            onOpen.run();
            Item item = files.get(path);
            var bytes = new ByteArrayInputStream(item.text().getBytes(StandardCharsets.UTF_8));
            return new Content(bytes, item.version().executable());
        }

        @Override
        public Version write(String path, Path file, Version version, Optional<Version> expected) throws IOException {
            onWrite.run();
            require(path, expected);
            files.put(path, item(Files.readString(file), version.executable()));
            return version;
        }

        @Override
        public void delete(String path, Version expected) throws IOException {
            require(path, Optional.of(expected));
            files.remove(path);
        }

        private void require(String path, Optional<Version> expected) throws Changed {
            if (!Optional.ofNullable(files.get(path)).map(Item::version).equals(expected)) {
                throw new Changed(path);
            }
        }
    }
}
