package dev.vivarium.core.guard.liveness;

import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.Query;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.Event;
import dev.vivarium.model.LivenessEvent;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.StringJoiner;
import java.util.function.UnaryOperator;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Bundles with the state of runs that ended abnormally: one ZIP file for each run. Thread-safe.
///
/// A failure to collect is logged and does not stop the restart of a run.
public final class Forensics {
    private static final Logger LOG = LoggerFactory.getLogger(Forensics.class);
    private static final String SUFFIX = ".zip";
    private static final int EVENTS = 100;

    /// Maximum number of characters of one file in a bundle. The end is kept.
    private static final int MAX_CHARACTERS = 1024 * 1024;

    private static final String MEMORY = """
            cat /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory.current 2> /dev/null
            cat /proc/meminfo 2> /dev/null
            dmesg 2> /dev/null | grep -i -e 'out of memory' -e oom | tail -n 50""";

    private static final String DISK = """
            df -k . 2> /dev/null; df -i . 2> /dev/null
            du -x -k -d 3 . 2> /dev/null | sort -rn | head -n 100""";

    private final LivenessConfig.Bundles config;
    private final Sandboxes sandboxes;
    private final SandboxProbe probe;
    private final EventLog log;
    private final LivenessLog records;
    private final UnaryOperator<String> mask;
    private final InstantSource clock;

    /// @param mask replaces secrets in stored text
    Forensics(
            LivenessConfig.Bundles config,
            Sandboxes sandboxes,
            SandboxProbe probe,
            LivenessLog records,
            UnaryOperator<String> mask) {
        this.config = config;
        this.sandboxes = sandboxes;
        this.probe = probe;
        this.log = records.log();
        this.records = records;
        this.mask = mask;
        this.clock = records.clock();
    }

    /// Returns the bundle of a run.
    public Optional<Path> find(RunId run) {
        return Optional.of(file(run)).filter(Files::isRegularFile);
    }

    private Path file(RunId run) {
        return config.directory().resolve(run.value() + SUFFIX);
    }

    /// Collects the state of a run, once.
    void collect(Run run) {
        if (find(run.id()).isPresent()) {
            return;
        }
        try {
            Files.createDirectories(config.directory());
            Path fresh = config.directory().resolve(run.id() + ".unfinished");
            write(fresh, parts(run));
            Files.move(fresh, file(run.id()), StandardCopyOption.ATOMIC_MOVE);
            records.append(run, new LivenessEvent.ForensicsCollected(run.id(), Files.size(file(run.id()))));
        } catch (IOException | SandboxException e) {
            LOG.warn("The forensics of run {} are incomplete: {}", run.id(), e.getMessage());
        }
    }

    private void write(Path target, Map<String, String> parts) throws IOException {
        try (var zip = new ZipOutputStream(Files.newOutputStream(target))) {
            for (var part : parts.entrySet()) {
                String text = mask.apply(part.getValue());
                zip.putNextEntry(new ZipEntry(part.getKey()));
                zip.write(text.substring(Math.max(0, text.length() - MAX_CHARACTERS))
                        .getBytes(StandardCharsets.UTF_8));
                zip.closeEntry();
            }
        }
    }

    private Map<String, String> parts(Run run) {
        var parts = new LinkedHashMap<String, String>();
        SandboxProbe.Findings findings = probe.probe(run);
        parts.put("summary.txt", summary(run, findings));
        parts.put("events.txt", events(run));
        findings.processes().ifPresent(table -> parts.put("processes.txt", table.text()));
        if (findings.stats().isPresent()) {
            sandboxes.find(run.sandbox()).ifPresent(sandbox -> addInside(parts, sandbox, run));
        }
        return parts;
    }

    private void addInside(Map<String, String> parts, Sandbox sandbox, Run run) {
        probe.workerOutput(sandbox, run).ifPresent(text -> parts.put("output.txt", text));
        probe.output(sandbox, MEMORY).ifPresent(text -> parts.put("memory.txt", text));
        probe.output(sandbox, DISK).ifPresent(text -> parts.put("disk.txt", text));
    }

    private String summary(Run run, SandboxProbe.Findings findings) {
        var text = new StringJoiner("\n", "", "\n")
                .add("collected: " + clock.instant())
                .add("run: " + run.id() + ", " + run.program().runtime().text() + ", "
                        + run.status().text())
                .add("task: " + run.task())
                .add("sandbox: " + run.sandbox() + ", thread " + run.thread())
                .add("reason: " + run.reason().orElse(""))
                .add("last heartbeat: "
                        + run.heartbeat()
                                .map(beat -> beat.at() + " " + beat.metrics())
                                .orElse("none"))
                .add("guest: " + (findings.stats().isPresent() ? "responds" : "does not respond"))
                .add("worker: " + findings.worker()
                        + findings.channel().map(in -> " in " + in).orElse(""))
                .add("processes below the worker: " + findings.children())
                .add("out-of-memory kills in the sandbox: " + findings.oomKills());
        findings.stats()
                .ifPresent(stats -> text.add("memory: " + stats.memoryBytes() + " bytes")
                        .add("disk: " + stats.diskFree() + " of " + stats.diskTotal() + " bytes free")
                        .add("inodes: " + stats.inodesFree() + " of " + stats.inodesTotal() + " free"));
        return text.toString();
    }

    private String events(Run run) {
        var lines = new StringJoiner("\n", "", "\n");
        var last = new Query(0, Optional.empty(), Optional.empty(), EVENTS);
        for (Event event : log.readBefore(run.sandbox(), last, Long.MAX_VALUE)) {
            lines.add(event.seq() + "\t" + event.at() + "\t" + event.type() + "\t" + event.data());
        }
        return lines.toString();
    }

    /// Deletes bundles that exceed the retention, the oldest first.
    void prune() {
        Instant limit = clock.instant().minus(config.kept());
        long room = config.totalBytes();
        for (Bundle bundle : newestFirst()) {
            room -= bundle.bytes;
            if (room < 0 || bundle.changed.isBefore(limit)) {
                try {
                    Files.deleteIfExists(bundle.file);
                } catch (IOException e) {
                    LOG.warn("the expired bundle {} could not be deleted: {}", bundle.file, e.getMessage());
                }
            }
        }
    }

    private record Bundle(Path file, Instant changed, long bytes) {}

    private List<Bundle> newestFirst() {
        var found = new ArrayList<Bundle>();
        if (Files.isDirectory(config.directory())) {
            try (var all = Files.newDirectoryStream(config.directory())) {
                for (Path file : all) {
                    found.add(new Bundle(file, Files.getLastModifiedTime(file).toInstant(), Files.size(file)));
                }
            } catch (IOException | DirectoryIteratorException e) {
                LOG.warn("the forensics could not be listed, so none is deleted: {}", e.getMessage());
            }
        }
        found.sort(Comparator.comparing(Bundle::changed).reversed());
        return found;
    }
}
