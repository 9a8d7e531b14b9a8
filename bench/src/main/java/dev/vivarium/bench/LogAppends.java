package dev.vivarium.bench;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.bench.Report.Row;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.PostgresAddress;
import dev.vivarium.json.EventBodyJson;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.SandboxId;
import dev.vivarium.testbed.PostgresServer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/// Rate of durable appends by 64 callers, compared with one commit per event, in alternation, on SQLite and on
/// PostgreSQL.
final class LogAppends implements Measurement {
    private static final int PRODUCERS = 64;
    private static final int SANDBOXES = 50;
    private static final int MIN_TIMES = 10;
    private static final String DATA =
            "{\"tool\":\"bash\",\"command\":\"npm install\",\"text\":\"" + "x".repeat(120) + "\"}";

    @Override
    public void run(Bench bench, Report report) {
        Path home = bench.newHome();
        try (var db = Db.sqlite(home.resolve("log.db"))) {
            measure(bench, report, "SQLite", db);
        }
        try (var postgres = PostgresServer.start();
                var db = Db.postgres(PostgresAddress.of(postgres.newDatabase()), home)) {
            measure(bench, report, "PostgreSQL", db);
        }
    }

    private static void measure(Bench bench, Report report, String name, Db db) {
        Quiet.await();
        try (var log = new EventLog(db, InstantSource.system(), new EventBodyJson())) {
            var slice = Duration.ofMillis(Math.max(500, bench.rounds(2_000)));
            var grouped = new Rate();
            var alone = new Rate();
            var sandboxes = sandboxes(1);
            var single = new OneByOne(db);
            // The first turns are for the JIT compiler.
            for (int turn = -2; turn < bench.rounds(5); turn++) {
                if (turn == 0) {
                    grouped.clear();
                    alone.clear();
                }
                grouped.add(PRODUCERS, slice, () -> append(log, any(sandboxes)));
                alone.add(PRODUCERS, slice, single::insert);
            }
            String rule =
                    ">= %d x a commit each, which are %s /s".formatted(MIN_TIMES, Report.number(alone.perSecond()));
            report.add(Row.rate("durable appends, 64 callers, " + name, "/s", grouped.perSecond())
                    .held(rule, grouped.perSecond() >= MIN_TIMES * alone.perSecond()));
        }
    }

    /// Rate over several slices of time. Not thread-safe.
    private static final class Rate {
        private long count;
        private double seconds;

        /// Uses virtual threads, as the server does.
        void add(int workers, Duration slice, Runnable act) {
            long start = System.nanoTime();
            var done = new LongAdder();
            try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
                for (int i = 0; i < workers; i++) {
                    callers.execute(() -> {
                        while (System.nanoTime() - start < slice.toNanos()) {
                            act.run();
                            done.increment();
                        }
                    });
                }
            }
            count += done.sum();
            seconds += (System.nanoTime() - start) / 1e9;
        }

        void clear() {
            count = 0;
            seconds = 0;
        }

        double perSecond() {
            return count / seconds;
        }
    }

    /// Returns when the event is durable.
    private static void append(EventLog log, SandboxId sandbox) {
        log.append(sandbox, NewEvent.of("agent.tool_use", DATA, "agent"));
    }

    private static List<SandboxId> sandboxes(long seed) {
        var random = new Random(seed);
        return Stream.generate(() -> SandboxId.random(random)).limit(SANDBOXES).toList();
    }

    private static SandboxId any(List<SandboxId> sandboxes) {
        return sandboxes.get(ThreadLocalRandom.current().nextInt(sandboxes.size()));
    }

    /// Baseline: one transaction per event, in sequence. Thread-safe.
    private static final class OneByOne {
        private static final String INSERT =
                "insert into sandbox_events (sandbox_id, seq, event_id, event_type, event_data, source, created_at)"
                        + " values (?, ?, ?, ?, ?, ?, ?)";

        private final Db db;
        private final List<SandboxId> sandboxes = sandboxes(2);
        private final ReentrantLock turn = new ReentrantLock();

        @GuardedBy("turn")
        private long seq;

        OneByOne(Db db) {
            this.db = db;
        }

        void insert() {
            turn.lock();
            try {
                long number = ++seq;
                db.write(sql -> sql.update(
                        INSERT,
                        any(sandboxes).value(),
                        number,
                        "one" + number,
                        "agent.tool_use",
                        DATA,
                        "agent",
                        System.currentTimeMillis()));
            } finally {
                turn.unlock();
            }
        }
    }
}
