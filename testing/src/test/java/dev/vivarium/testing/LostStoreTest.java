package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.core.provider.HostTool;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// No disk is lost when the server is killed and its store is damaged. Each round kills the server, damages the store
/// and starts the server again. `-Dviv.rounds=20 -Dviv.seed=…` runs more rounds, or the same ones again. Needs root.
@Tag("root")
@Timeout(600)
class LostStoreTest {
    private static final int ROUNDS = Integer.getInteger("viv.rounds", Damage.values().length);
    private static final int SANDBOXES = 3;
    private static final List<String> STORE = List.of("vivarium.db", "vivarium.db-wal", "vivarium.db-shm");

    private final long seed = Long.getLong("viv.seed", System.nanoTime());
    private final Random random = new Random(seed);

    /// Session ids of the current round, by thread.
    private final Map<String, String> sessions = new LinkedHashMap<>();

    private Path home;
    private Path copies;
    private ServerProcess server;

    private enum Damage {
        DELETE_DATABASE,
        EMPTY_DATABASE,
        TRUNCATE_DATABASE,
        DELETE_LOG,
        DELETE_ALL,
        FOREIGN_DATABASE,
        OLD_COPY
    }

    @BeforeEach
    void makeHome() throws IOException {
        home = Files.createTempDirectory("viv-lost").toRealPath();
        copies = Files.createTempDirectory("viv-copies").toRealPath();
        server = start();
    }

    @AfterEach
    void cleanUp() throws IOException {
        server.close();
        moveStoreTo(copies);
        ServerProcess.purge(home);
        // The watcher notices within a second that no machine is left.
        await().untilAsserted(() -> assertThat(HostTraces.of(home)).isEmpty());
        FileTrees.delete(home);
        FileTrees.delete(copies);
    }

    @Test
    void disksSurviveAnyDamageToTheStore() throws IOException {
        System.out.println("LostStoreTest: " + ROUNDS + " rounds with seed " + seed);
        for (Damage damage : damages()) {
            copyStore();
            createSandboxes();
            server.close();
            damage(damage);
            restart(damage);
            endSandboxes();
        }
    }

    /// Every kind of damage in random order, repeated for the number of rounds.
    private List<Damage> damages() {
        var all = new ArrayList<Damage>();
        while (all.size() < ROUNDS) {
            var kinds = new ArrayList<>(List.of(Damage.values()));
            Collections.shuffle(kinds, random);
            all.addAll(kinds);
        }
        return all.subList(0, ROUNDS);
    }

    private void createSandboxes() {
        Api api = server.api();
        sessions.clear();
        for (int i = 0; i < SANDBOXES; i++) {
            String thread = Api.thread();
            String session = api.post("/create_session", "{\"user_id\":\"u\",\"thread_id\":\"" + thread + "\"}")
                    .json()
                    .string("session_id");
            api.execute(session, "echo content of " + thread + " > file; sync");
            sessions.put(thread, session);
        }
        // The server writes the labels within a second.
        sessions.values()
                .forEach(session -> await().until(() -> Files.exists(home.resolve("disks/" + session + ".label"))));
    }

    private void endSandboxes() {
        Api api = server.api();
        sessions.values().forEach(session -> api.post("/cleanup", "{\"session_id\":\"" + session + "\"}"));
    }

    private void damage(Damage damage) throws IOException {
        Path database = home.resolve("vivarium.db");
        switch (damage) {
            case DELETE_DATABASE -> Files.delete(database);
            case EMPTY_DATABASE -> truncate(database, 0);
            case TRUNCATE_DATABASE -> truncate(database, 1 + random.nextLong(Files.size(database)));
            case DELETE_LOG -> Files.deleteIfExists(home.resolve("vivarium.db-wal"));
            case DELETE_ALL -> moveStoreTo(copies.resolve("lost"));
            case FOREIGN_DATABASE -> {
                moveStoreTo(copies.resolve("lost"));
                ForeignStore.create(database);
            }
            case OLD_COPY -> {
                moveStoreTo(copies.resolve("lost"));
                for (String name : STORE.subList(0, 2)) {
                    Files.copy(copies.resolve(name), home.resolve(name));
                }
            }
        }
    }

    private void restart(Damage damage) throws IOException {
        Set<String> disks = disks();
        var attempt = ServerProcess.tryStart(home, arguments());
        if (attempt.server().isPresent()) {
            server = attempt.server().get();
            assertEachDiskIsKept(damage);
            return;
        }
        assertThat(attempt.exitCode()).isPositive();
        assertThat(attempt.errors()).as("%s, seed %d", damage, seed).contains("--adopt");
        assertThat(disks()).as("a failed start changes no disk").isEqualTo(disks);
        if (attempt.errors().contains("damaged")) {
            moveStoreTo(copies.resolve("lost"));
        }
        server = start("--adopt");
        for (var session : sessions.entrySet()) {
            assertThat(content(server.api(), session.getValue()))
                    .as("%s, seed %d", damage, seed)
                    .isEqualTo("content of " + session.getKey() + "\n");
        }
    }

    /// Each disk belongs to a known sandbox or is in `orphans/`.
    private void assertEachDiskIsKept(Damage damage) throws IOException {
        for (var session : sessions.entrySet()) {
            String id = session.getValue();
            Path orphan = home.resolve("orphans").resolve(id + ".ext4");
            boolean isKnown = server.api()
                    .get("/get_session?thread_id=" + session.getKey())
                    .text()
                    .contains(id);
            if (!isKnown) {
                await().until(() -> Files.exists(orphan));
            }
            assertThat(isKnown ? content(server.api(), id) : contentOf(orphan))
                    .as("%s, seed %d", damage, seed)
                    .isEqualTo("content of " + session.getKey() + "\n");
        }
    }

    private static String content(Api api, String session) {
        return api.execute(session, "cat file").string("stdout");
    }

    private static String contentOf(Path image) throws IOException {
        var debugfs = new ProcessBuilder("debugfs", "-R", "cat /workspace/file", image.toString())
                .redirectError(ProcessBuilder.Redirect.DISCARD);
        debugfs.environment().putAll(HostTool.ENVIRONMENT);
        return new String(debugfs.start().getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    private Set<String> disks() throws IOException {
        try (var entries = Files.list(home.resolve("disks"))) {
            return entries.map(entry -> entry.getFileName().toString()).collect(Collectors.toCollection(TreeSet::new));
        }
    }

    private static void truncate(Path file, long bytes) throws IOException {
        try (var open = new RandomAccessFile(file.toFile(), "rw")) {
            open.setLength(bytes);
        }
    }

    private void copyStore() throws IOException {
        for (String name : STORE) {
            if (Files.exists(home.resolve(name))) {
                Files.copy(home.resolve(name), copies.resolve(name), StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }

    private void moveStoreTo(Path directory) throws IOException {
        Files.createDirectories(directory);
        for (String name : STORE) {
            if (Files.exists(home.resolve(name))) {
                Files.copy(home.resolve(name), directory.resolve(name), StandardCopyOption.REPLACE_EXISTING);
                Files.delete(home.resolve(name));
            }
        }
    }

    private ServerProcess start(String... more) {
        var all = new ArrayList<>(List.of(arguments()));
        all.addAll(List.of(more));
        return ServerProcess.start(home, all.toArray(String[]::new));
    }

    private static String[] arguments() {
        return new String[] {"--pool-size", "1", "--disk-mb", "64"};
    }
}
