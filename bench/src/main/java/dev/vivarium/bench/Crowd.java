package dev.vivarium.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;

/// Workers that do the same work at the same time. Stateless.
///
/// They are platform threads, because some block in native calls, which would block the carriers of virtual threads.
final class Crowd {
    private Crowd() {}

    /// Work of one worker. It is created before the start, so that its connection is not measured.
    @FunctionalInterface
    interface Member extends AutoCloseable {
        void act(int turn);

        @Override
        default void close() {}
    }

    /// Result: total time, time of each act, and failures.
    record Result(Duration took, Samples samples, List<String> failures) {
        double perSecond() {
            return samples.count() / (took.toNanos() / 1e9);
        }

        /// Prints the first failures.
        void printFailures() {
            failures.stream().limit(3).forEach(failure -> System.err.println("  failed: " + failure));
        }

        Result orThrow() {
            if (!failures.isEmpty()) {
                throw new IllegalStateException(failures.size() + " failed, the first with: " + failures.getFirst());
            }
            return this;
        }
    }

    /// Lets each of `size` workers act `turns` times without a pause.
    static Result turns(int size, int turns, IntFunction<Member> factory) {
        return run(size, factory, (_, turn, _) -> turn < turns ? System.nanoTime() : END);
    }

    /// Lets each of `size` workers act repeatedly until `time` has passed.
    static Result during(int size, Duration time, IntFunction<Member> factory) {
        return run(size, factory, (_, _, start) -> {
            long now = System.nanoTime();
            return now - start < time.toNanos() ? now : END;
        });
    }

    /// Starts one act every `interval`, in rotation over the workers. If an act has to wait for its worker, its
    /// time counts from the moment it was due.
    static Result paced(int size, int turns, Duration interval, IntFunction<Member> factory) {
        return run(size, factory, (worker, turn, start) -> {
            if (turn == turns) {
                return END;
            }
            long due = start + interval.toNanos() * ((long) turn * size + worker);
            for (long now = System.nanoTime(); now < due; now = System.nanoTime()) {
                LockSupport.parkNanos(due - now);
            }
            return due;
        });
    }

    private static final long END = Long.MIN_VALUE;

    /// Waits for the time of a worker's next act and returns it, or [#END].
    @FunctionalInterface
    private interface Pace {
        long await(int worker, int turn, long start);
    }

    private static Result run(int size, IntFunction<Member> factory, Pace pace) {
        var samples = new Samples();
        var failures = Collections.synchronizedList(new ArrayList<String>());
        var gate = new Gate(size);
        var workers = new ArrayList<Thread>();
        for (int i = 0; i < size; i++) {
            int number = i;
            workers.add(Thread.ofPlatform().name("bench-" + i).start(() -> {
                Samples own = work(number, factory, pace, gate, failures);
                synchronized (samples) {
                    samples.add(own);
                }
            }));
        }
        long start = gate.open();
        workers.forEach(Crowd::join);
        return new Result(Duration.ofNanos(System.nanoTime() - start), samples, List.copyOf(failures));
    }

    private static Samples work(int number, IntFunction<Member> factory, Pace pace, Gate gate, List<String> failures) {
        var own = new Samples();
        boolean waiting = true;
        try (Member member = factory.apply(number)) {
            waiting = false;
            long start = gate.pass();
            int turn = 0;
            for (long due = pace.await(number, turn, start); due != END; due = pace.await(number, turn, start)) {
                member.act(turn++);
                own.add(System.nanoTime() - due);
            }
        } catch (Exception failure) {
            failures.add(String.valueOf(failure));
            if (waiting) {
                gate.arrive();
            }
        }
        return own;
    }

    private static void join(Thread worker) {
        try {
            worker.join();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", interrupted);
        }
    }

    /// Barrier that starts all workers at once, when the last one is ready.
    private static final class Gate {
        private final CountDownLatch ready;
        private final CountDownLatch open = new CountDownLatch(1);
        private volatile long start;

        Gate(int size) {
            ready = new CountDownLatch(size);
        }

        void arrive() {
            ready.countDown();
        }

        long pass() throws InterruptedException {
            arrive();
            open.await();
            return start;
        }

        long open() {
            try {
                if (!ready.await(5, TimeUnit.MINUTES)) {
                    throw new IllegalStateException("some workers never became ready");
                }
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
            start = System.nanoTime();
            open.countDown();
            return start;
        }
    }
}
