package dev.vivarium.core.git;

import dev.vivarium.core.Digests;
import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.model.UserId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Bare mirrors of repositories on the host, one for each user and repository, so that a second clone transfers no
/// objects from the remote. Thread-safe.
///
/// The remote must accept the credential of the caller before the caller gets a mirror. If the host has no git, or a
/// mirror cannot be refreshed, there is no mirror, and the relay forwards requests to the remote.
public final class Mirrors {
    private static final Logger LOG = LoggerFactory.getLogger(Mirrors.class);

    /// Files of a mirror: the digest of the references at the last refresh, and the time of the last use.
    private static final String DIGEST = "vivarium-refs";

    private static final String USED = "vivarium-used";

    /// A mirror that was used within this time is kept.
    private static final Duration IN_USE = Duration.ofMinutes(10);

    /// How long the requests of one fetch use the mirror without another request to the remote.
    private static final Duration ACCEPTED = Duration.ofMinutes(5);

    private final Path directory;
    private final HostGit git;
    private final long maxBytes;
    private final InstantSource clock;
    private final Map<Path, Semaphore> locks = new ConcurrentHashMap<>();
    private final Map<Accepted, Instant> accepted = new ConcurrentHashMap<>();

    /// A use of a mirror that the remote has accepted.
    private record Accepted(Path mirror, String credential) {}

    /// @param maxBytes size of all mirrors; zero for no mirrors
    public Mirrors(Path directory, HostGit git, long maxBytes, InstantSource clock) {
        this.directory = directory;
        this.git = git;
        this.maxBytes = maxBytes;
        this.clock = clock;
    }

    /// Returns the mirror of a remote with its newest commits. Fails as [Remote#refs] does. Returns nothing if
    /// there is no mirror.
    public Optional<Path> refreshed(UserId owner, Remote remote) {
        if (maxBytes == 0 || !git.isInstalled()) {
            return Optional.empty();
        }
        Remote.Advertised advertised = remote.advertised();
        Path mirror = pathOf(owner, remote);
        try {
            refresh(mirror, remote, advertised);
            touch(mirror);
            accepted.put(key(mirror, remote), clock.instant());
            return Optional.of(mirror);
        } catch (IOException e) {
            LOG.warn("The mirror of {} cannot be refreshed: {}", remote.url(), e.getMessage());
            return Optional.empty();
        }
    }

    /// Returns the mirror for the next request of a fetch, which began with [#refreshed].
    public Optional<Path> current(UserId owner, Remote remote) {
        Path mirror = pathOf(owner, remote);
        Instant at = accepted.get(key(mirror, remote));
        boolean isRecent = at != null && clock.instant().isBefore(at.plus(ACCEPTED)) && Files.exists(mirror);
        return isRecent ? Optional.of(mirror) : refreshed(owner, remote);
    }

    private static Accepted key(Path mirror, Remote remote) {
        return new Accepted(
                mirror, remote.credential().name() + " " + remote.credential().createdAt());
    }

    private Path pathOf(UserId owner, Remote remote) {
        return directory.resolve(
                Digests.sha256(owner.value() + "\n" + remote.url()).substring(0, 40));
    }

    /// Serializes the fetches into one mirror, which block on the network.
    private void refresh(Path mirror, Remote remote, Remote.Advertised advertised) throws IOException {
        String digest = advertised.refs().digest();
        Semaphore lock = locks.computeIfAbsent(mirror, _ -> new Semaphore(1, true));
        lock.acquireUninterruptibly();
        try {
            Path stamp = mirror.resolve(DIGEST);
            if (Files.exists(stamp) && Files.readString(stamp).equals(digest)) {
                return;
            }
            evict(mirror);
            Files.deleteIfExists(stamp);
            git.fetch(mirror, remote, advertised, maxBytes);
            Files.writeString(stamp, digest);
        } finally {
            lock.release();
        }
    }

    private void touch(Path mirror) throws IOException {
        Path marker = mirror.resolve(USED);
        if (!Files.exists(marker)) {
            Files.createFile(marker);
        }
        Files.setLastModifiedTime(marker, FileTime.from(clock.instant()));
    }

    /// Deletes the mirrors that were not used for the longest time, until there is room for another.
    private void evict(Path wanted) throws IOException {
        Files.createDirectories(directory);
        accepted.values().removeIf(at -> at.plus(ACCEPTED).isBefore(clock.instant()));
        List<Path> all;
        try (Stream<Path> entries = Files.list(directory)) {
            all = entries.sorted(Comparator.comparing(this::lastUse)).toList();
        }
        long total = 0;
        for (Path one : all) {
            total += sizeOf(one);
        }
        for (Path one : all) {
            boolean isUsed =
                    one.equals(wanted) || lastUse(one).isAfter(clock.instant().minus(IN_USE));
            if (total > maxBytes / 2 && !isUsed) {
                total -= sizeOf(one);
                FileTrees.delete(one);
            }
        }
    }

    private Instant lastUse(Path mirror) {
        try {
            return Files.getLastModifiedTime(mirror.resolve(USED)).toInstant();
        } catch (IOException e) {
            return Instant.EPOCH;
        }
    }

    private static long sizeOf(Path mirror) throws IOException {
        try (Stream<Path> files = Files.walk(mirror)) {
            return files.filter(Files::isRegularFile).mapToLong(Mirrors::length).sum();
        }
    }

    private static long length(Path file) {
        try {
            return Files.size(file);
        } catch (IOException e) {
            return 0;
        }
    }
}
