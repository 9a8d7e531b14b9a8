package dev.vivarium.core.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.core.Digests;
import dev.vivarium.core.guest.RealGuest;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
final class WriteConditionTest {
    private static final String HASH_OF_ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    private static RealGuest real;
    private static Workspace files;

    @BeforeAll
    static void start() {
        real = RealGuest.start();
        files = new Workspace(real.guest(), new WriteLock());
    }

    @AfterAll
    static void stop() {
        real.close();
    }

    private final Path workspace = real.workspace();

    @Test
    void guestHashesTheFile() throws IOException {
        Files.writeString(workspace.resolve("hashed"), "abc");

        FileHash hash = files.hash("hashed");

        assertThat(hash.sha256())
                .isEqualTo(HASH_OF_ABC)
                .isEqualTo(Digests.sha256("abc".getBytes(StandardCharsets.UTF_8)));
        assertThat(hash.entry().size()).isEqualTo(3);
        assertThat(hash.steady()).isTrue();
    }

    @Test
    void conditionHoldsForMatchingState() {
        var mine = Set.of("a");
        assertThat(WriteCondition.NONE.holds(false, Set.of())).isTrue();
        assertThat(new WriteCondition.Present().holds(true, Set.of())).isTrue();
        assertThat(new WriteCondition.Present().holds(false, Set.of())).isFalse();
        assertThat(new WriteCondition.Absent().holds(false, Set.of())).isTrue();
        assertThat(new WriteCondition.Absent().holds(true, mine)).isFalse();
        assertThat(new WriteCondition.OneOf(Set.of("a", "b")).holds(true, mine)).isTrue();
        assertThat(new WriteCondition.OneOf(Set.of("b")).holds(true, mine)).isFalse();
        assertThat(new WriteCondition.OneOf(Set.of("a")).holds(false, Set.of())).isFalse();
        assertThat(new WriteCondition.NoneOf(Set.of("a")).holds(true, mine)).isFalse();
        assertThat(new WriteCondition.NoneOf(Set.of("a")).holds(false, Set.of()))
                .isTrue();
    }

    @Test
    void failedConditionLeavesTheFileUnchanged() throws IOException {
        Path file = Files.writeString(workspace.resolve("kept"), "abc");
        var other = new WriteCondition.OneOf(Set.of("0".repeat(64)));

        assertThatThrownBy(() -> put("kept", "new", other)).satisfies(WriteConditionTest::assertPreconditionFailed);
        assertThatThrownBy(() -> put("kept", "new", new WriteCondition.Absent()))
                .satisfies(WriteConditionTest::assertPreconditionFailed);
        assertThatThrownBy(() -> files.remove("kept", ListDepth.TOP, other))
                .satisfies(WriteConditionTest::assertPreconditionFailed);
        assertThatThrownBy(() -> files.move("kept", "moved", Workspace.Replacing.NOTHING, other))
                .satisfies(WriteConditionTest::assertPreconditionFailed);
        assertThat(file).hasContent("abc");
        assertThat(workspace.resolve("moved")).doesNotExist();
        try (var names = Files.list(workspace)) {
            assertThat(names).noneMatch(name -> name.toString().contains(".viv-tmp"));
        }
    }

    @Test
    void directoryMatchesPresentButNoHash() throws IOException {
        Files.createDirectory(workspace.resolve("folder"));

        assertThatThrownBy(() -> files.remove("folder", ListDepth.TOP, new WriteCondition.OneOf(Set.of(HASH_OF_ABC))))
                .satisfies(WriteConditionTest::assertPreconditionFailed);
        assertThat(files.remove("folder", ListDepth.TOP, new WriteCondition.Present()))
                .isEqualTo(1);
    }

    @Test
    void oneOfConcurrentConditionalWritesWins() throws Exception {
        put("counter", "0", WriteCondition.NONE);
        for (int round = 0; round < 100; round++) {
            var seen = new WriteCondition.OneOf(Set.of(files.hash("counter").sha256()));
            var won = new AtomicInteger();
            try (var writers = Executors.newVirtualThreadPerTaskExecutor()) {
                for (int writer = 0; writer < 3; writer++) {
                    String text = round + "-" + writer;
                    writers.submit(() -> {
                        put("counter", text, seen);
                        return won.incrementAndGet();
                    });
                }
            }
            assertThat(won).as("round %s", round).hasValue(1);
        }
    }

    @Test
    void oneOfConcurrentCreatesWins() throws Exception {
        for (int round = 0; round < 50; round++) {
            String name = "fresh-" + round;
            var won = new AtomicInteger();
            try (var writers = Executors.newVirtualThreadPerTaskExecutor()) {
                for (int writer = 0; writer < 3; writer++) {
                    writers.submit(() -> {
                        put(name, "text", new WriteCondition.Absent());
                        return won.incrementAndGet();
                    });
                }
            }
            assertThat(won).as(name).hasValue(1);
        }
    }

    @Test
    void downloadWithAnotherHashIsTruncated() throws IOException {
        Files.write(workspace.resolve("big"), new byte[300_000]);
        var out = new ByteArrayOutputStream();

        assertThatThrownBy(() -> {
                    try (var download = files.read("big")) {
                        download.transferIfItIs(HASH_OF_ABC, out);
                    }
                })
                .isInstanceOfSatisfying(
                        SandboxException.class,
                        e -> assertThat(e.failure()).isEqualTo(new Failure.FileChanging("big")));
        assertThat(out.size()).isBetween(1, 299_999);
    }

    @Test
    void downloadOfAChangingFileIsTruncated() throws IOException {
        Path file = Files.write(workspace.resolve("moving"), new byte[8 << 20]);
        var out = new ByteArrayOutputStream();
        try (var download = files.read("moving")) {
            Files.write(file, new byte[(8 << 20) + 1]);

            assertThatThrownBy(() -> download.transferIfSteady(out))
                    .isInstanceOfSatisfying(
                            SandboxException.class,
                            e -> assertThat(e.failure()).isEqualTo(new Failure.FileChanging("moving")));
        }
        assertThat(out.size()).isLessThan(8 << 20);
    }

    private static void put(String path, String text, WriteCondition condition) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        try (var upload = files.write(path, Upload.Limits.NONE, condition, FileMode.KEPT)) {
            upload.write(bytes, 0, bytes.length);
            upload.commit();
        }
    }

    private static void assertPreconditionFailed(Throwable thrown) {
        assertThat(thrown)
                .isInstanceOfSatisfying(
                        SandboxException.class,
                        e -> assertThat(e.failure()).isInstanceOf(Failure.PreconditionFailed.class));
    }
}
