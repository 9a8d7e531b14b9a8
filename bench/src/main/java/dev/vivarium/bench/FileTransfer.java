package dev.vivarium.bench;

import dev.vivarium.bench.Report.Row;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/// Latency and rate of small and large files over HTTP, compared with the bare file system and Docker's archive API.
final class FileTransfer implements Measurement {
    private static final int SMALL = 4096;
    private static final int LARGE = 100 * 1024 * 1024;
    private static final int SEED = 1;
    private static final int WARM_UP = 300;

    /// Targets and samples for one file size.
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Lane(
            byte[] content,
            byte[] archive,
            Path hostFile,
            Samples write,
            Samples read,
            Samples hostWrite,
            Samples hostRead,
            Samples dockerWrite,
            Samples dockerRead) {
        static Lane of(int size, Path directory) {
            byte[] content = new byte[size];
            new Random(SEED).nextBytes(content);
            String name = "file" + size;
            Path file = FileTransfer.write(directory.resolve(name), content);
            return new Lane(
                    content,
                    archive(directory, name),
                    file,
                    new Samples(),
                    new Samples(),
                    new Samples(),
                    new Samples(),
                    new Samples(),
                    new Samples());
        }

        /// Returns a tar archive with the file under the name `file`, the format of Docker's archive API.
        private static byte[] archive(Path directory, String name) {
            var archive = new ByteArrayOutputStream();
            var command =
                    List.of("tar", "--create", "--directory", directory.toString(), "--transform", "s/.*/file/", name);
            Programs.run(command, Map.of(), archive);
            return archive.toByteArray();
        }
    }

    /// Sandbox and, if there is an engine, the container for the files.
    private record Ends(Http http, String session, Optional<Docker> docker, Optional<String> container) {}

    @Override
    public void run(Bench bench, Report report) {
        Path directory = bench.newHome();
        try (var server = bench.startServer(Map.of("POOL_SIZE", "0"));
                var http = server.connect()) {
            Optional<String> container = bench.docker().map(Docker::runWritable);
            var ends = new Ends(http, VivServer.create(http, "files"), bench.docker(), container);
            measure(Lane.of(SMALL, directory), ends, WARM_UP, WARM_UP);
            Quiet.await();
            Lane small = Lane.of(SMALL, directory);
            measure(small, ends, bench.rounds(500), 10);
            addRows("4 KB", small, report);
            Quiet.await();
            Lane large = Lane.of(LARGE, directory);
            measure(large, ends, bench.rounds(10), 2);
            addRows("100 MB", large, report);
            container.ifPresent(id -> bench.docker().orElseThrow().remove(id));
        }
    }

    private static void measure(Lane lane, Ends ends, int rounds, int dockerEvery) {
        for (int i = 0; i < rounds; i++) {
            measureHost(lane);
            measureOurs(lane, ends);
            if (i % dockerEvery == 0) {
                ends.container()
                        .ifPresent(id -> measureDocker(lane, ends.docker().orElseThrow(), id));
            }
        }
    }

    private static void measureOurs(Lane lane, Ends ends) {
        lane.write().time(() -> VivServer.upload(ends.http(), ends.session(), "file", lane.content()));
        lane.read().time(() -> VivServer.download(ends.http(), ends.session(), "file"));
    }

    private static void measureDocker(Lane lane, Docker engine, String container) {
        try (var control = engine.connect()) {
            lane.dockerWrite().time(() -> Docker.write(control, container, lane.archive()));
            lane.dockerRead().time(() -> Docker.read(control, container, "file"));
        }
    }

    private static void measureHost(Lane lane) {
        lane.hostWrite().time(() -> write(lane.hostFile(), lane.content()));
        lane.hostRead().time(() -> {
            try {
                Files.readAllBytes(lane.hostFile());
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
        });
    }

    private static Path write(Path file, byte[] content) {
        try {
            return Files.write(file, content);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static void addRows(String size, Lane lane, Report report) {
        report.add(Row.of("write a file of " + size + ", HTTP", lane.write())
                .besideBare(lane.hostWrite().p50())
                .besideDocker(lane.dockerWrite().p50()));
        report.add(Row.of("read a file of " + size + ", HTTP", lane.read())
                .besideBare(lane.hostRead().p50())
                .besideDocker(lane.dockerRead().p50()));
    }
}
