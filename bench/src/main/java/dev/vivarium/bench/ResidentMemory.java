package dev.vivarium.bench;

import dev.vivarium.bench.Report.Row;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Map;
import java.util.Random;

/// Resident memory of a server with the standard heap after mixed load: large uploads, many sandboxes, many watchers.
///
/// The server returns unused memory to the system with some delay, so the measurement waits for it.
final class ResidentMemory implements Measurement {
    private static final int UPLOAD_BYTES = 100 * 1024 * 1024;
    private static final int UPLOADERS = 4;
    private static final int UPLOADS = 3;
    private static final int CREATORS = 8;
    private static final int CREATES = 1000;
    private static final int WATCHERS = 1000;
    private static final double MAX_MIB = 600;
    private static final Duration LOOK = Duration.ofSeconds(1);
    private static final int LOOKS = 120;

    @Override
    public void run(Bench bench, Report report) {
        try (var server = bench.startServer(Map.of())) {
            upload(bench, server);
            create(bench, server);
            watch(bench, server);
            double peak = Processes.peakKib(server.pid()) / 1024.0;
            double settled = settle(server);
            report.add(Row.of("server resident after load", "MiB", settled)
                    .held("<= 600 MiB (peak " + Report.number(peak) + ")", settled <= MAX_MIB));
        }
    }

    private static void upload(Bench bench, VivServer server) {
        byte[] content = new byte[UPLOAD_BYTES];
        new Random(1).nextBytes(content);
        Crowd.turns(
                        UPLOADERS,
                        bench.rounds(UPLOADS),
                        caller -> new Caller(server.connect(), (http, _) -> {
                            String session = VivServer.create(http, "upload-" + caller);
                            VivServer.upload(http, session, "file", content);
                            VivServer.download(http, session, "file");
                            VivServer.cleanup(http, session);
                        }))
                .orThrow();
    }

    private static void create(Bench bench, VivServer server) {
        Crowd.turns(
                        CREATORS,
                        bench.rounds(CREATES / CREATORS),
                        caller -> new Caller(server.connect(), (http, turn) -> {
                            String session = VivServer.create(http, "create-" + caller + "-" + turn);
                            VivServer.execute(http, session, "true");
                            VivServer.cleanup(http, session);
                        }))
                .orThrow();
    }

    private static void watch(Bench bench, VivServer server) {
        var watchers = new ArrayList<Watcher>();
        try (var http = server.connect()) {
            String sandbox = VivServer.create(http, "watched");
            for (int i = 0; i < bench.rounds(WATCHERS); i++) {
                watchers.add(Watcher.open(server, sandbox));
            }
            for (int i = 0; i < bench.rounds(50); i++) {
                VivServer.execute(http, sandbox, "echo " + i + " > file");
            }
            VivServer.cleanup(http, sandbox);
        }
        watchers.forEach(Watcher::close);
    }

    private static double settle(VivServer server) {
        double now = Double.MAX_VALUE;
        for (int i = 0; i < LOOKS && now > MAX_MIB; i++) {
            Programs.pause(LOOK);
            now = Processes.residentKib(server.pid()) / 1024.0;
        }
        return now;
    }
}
