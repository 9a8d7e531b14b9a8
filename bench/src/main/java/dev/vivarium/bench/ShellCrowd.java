package dev.vivarium.bench;

import dev.vivarium.bench.Report.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/// Input to many shells at once, and many viewers of one shell.
///
/// The requirement is that every byte returns once and in order. The rate is shown beside it.
final class ShellCrowd implements Measurement {
    private static final String ECHO = "stty raw -echo; echo ready; exec cat";
    private static final int SHELLS = 200;
    private static final int SHELLS_PER_SANDBOX = 10;
    private static final int VIEWERS = 50;

    @Override
    public void run(Bench bench, Report report) {
        try (var server = bench.startServer(Map.of("POOL_SIZE", "0"))) {
            typeInMany(server, report, Math.max(5, bench.rounds(100)));
            typeBeforeMany(server, report, Math.max(50, bench.rounds(10_000)));
        }
    }

    private static void typeInMany(VivServer server, Report report, int lines) {
        List<ShellConnection> shells = new ArrayList<>();
        try (var http = server.connect()) {
            for (int i = 0; i < SHELLS / SHELLS_PER_SANDBOX; i++) {
                String sandbox = VivServer.create(http, "crowd-" + i);
                for (int j = 0; j < SHELLS_PER_SANDBOX; j++) {
                    shells.add(ShellConnection.open(server.port(), server.key(), sandbox, ECHO));
                }
            }
            Quiet.await();
            long start = System.nanoTime();
            List<String> expected = new ArrayList<>();
            List<Future<String>> shown = new ArrayList<>();
            try (var workers = Executors.newVirtualThreadPerTaskExecutor()) {
                for (ShellConnection shell : shells) {
                    String text = text("shell" + expected.size(), lines);
                    expected.add(text);
                    shown.add(workers.submit(() -> shell.read(text.length())));
                    workers.execute(() -> type(shell, text));
                }
            }
            report.add(row(SHELLS + " shells, each typed in", shells.size() * (long) lines, start)
                    .held("no byte lost or out of order", same(expected, shown)));
        } finally {
            shells.forEach(ShellConnection::close);
        }
    }

    private static void typeBeforeMany(VivServer server, Report report, int lines) {
        List<ShellConnection> viewers = new ArrayList<>();
        try (var http = server.connect();
                var typist = ShellConnection.open(
                        server.port(), server.key(), VivServer.create(http, "crowd-viewers"), ECHO)) {
            for (int i = 0; i < VIEWERS; i++) {
                viewers.add(ShellConnection.join(server.port(), server.key(), typist));
            }
            Quiet.await();
            long start = System.nanoTime();
            String text = text("typist", lines);
            List<String> expected = new ArrayList<>();
            List<Future<String>> shown = new ArrayList<>();
            try (var workers = Executors.newVirtualThreadPerTaskExecutor()) {
                for (ShellConnection viewer : viewers) {
                    expected.add(text);
                    shown.add(workers.submit(() -> viewer.read(text.length())));
                }
                expected.add(text);
                shown.add(workers.submit(() -> typist.read(text.length())));
                workers.execute(() -> type(typist, text));
            }
            report.add(row("1 shell with " + VIEWERS + " viewers", lines, start)
                    .held("every viewer sees every byte in order", same(expected, shown)));
        } finally {
            viewers.forEach(ShellConnection::close);
        }
    }

    private static Row row(String name, long lines, long start) {
        return Row.rate(name, "lines/s", lines / ((System.nanoTime() - start) / 1e9));
    }

    private static String text(String name, int lines) {
        var text = new StringBuilder();
        for (int line = 0; line < lines; line++) {
            text.append(name).append(" line ").append(line).append(" abcdefghijklmnopqrstuvwxyz\n");
        }
        return text.toString();
    }

    /// Types in pieces that do not end at line ends. If typing fails, reading fails too.
    private static void type(ShellConnection shell, String text) {
        for (int at = 0; at < text.length(); at += 17) {
            shell.type(text.substring(at, Math.min(text.length(), at + 17)));
        }
    }

    private static boolean same(List<String> expected, List<Future<String>> shown) {
        boolean same = true;
        for (int i = 0; i < expected.size(); i++) {
            try {
                same &= expected.get(i).equals(shown.get(i).get());
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                return false;
            } catch (ExecutionException failure) {
                throw new IllegalStateException("a shell broke", failure);
            }
        }
        return same;
    }
}
