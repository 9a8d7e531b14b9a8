package dev.vivarium.core.guard.trajectory;

import dev.vivarium.core.Digests;
import dev.vivarium.model.ToolCall;
import dev.vivarium.model.ToolResult;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// Compact state of one run: counters and short windows of its newest steps. Its size is bounded, however long the run
/// is. Confined to one thread.
///
/// A call is progress if it is new and passes. A file change is progress if the file never had this content before.
final class Trajectory {
    static final int CALLS = 40;
    static final int PROCESSES = 20;
    static final int TALLIES = 24;
    static final int FILES = 48;
    static final int VIOLATIONS = 10;
    private static final int SIGNATURES = 64;
    private static final int KEY = 12;

    /// Result of a call that the worker refused, because the agent must read a message first.
    private static final String REFUSED_FOR_MESSAGE = "A new message has arrived";

    final RunLimits runLimits;
    final Counters counters;
    final Deque<Call> calls = new ArrayDeque<>();

    /// Running processes of a program of the runtime `command`. A script may wait in a loop, so that processes
    /// count only as failures and as progress.
    final Deque<Call> processes = new ArrayDeque<>();

    /// Failures of each call since it passed last, by signature. The mark is the key of the error, or
    /// [Steps#PROCESS].
    final BoundedMap<Tally> failures = new BoundedMap<>(TALLIES);

    /// Failed calls by the key of their error, since the last passing check.
    final BoundedMap<Tally> errors = new BoundedMap<>(TALLIES);

    final BoundedMap<EditedFile> files = new BoundedMap<>(FILES);

    /// Steps outside of the constraints, by kind.
    final BoundedMap<Tally> violations = new BoundedMap<>(VIOLATIONS);

    /// Signatures of calls that are not new, oldest first.
    final Deque<String> signatures = new ArrayDeque<>();

    Trajectory(RunLimits runLimits, Counters counters) {
        this.runLimits = runLimits;
        this.counters = counters;
    }

    static Trajectory begin(RunLimits runLimits, long seq) {
        return new Trajectory(runLimits, Counters.begin(seq, runLimits.startedAt()));
    }

    void apply(Step step) {
        counters.seq = step.seq();
        counters.at = step.at();
        switch (step) {
            case Step.Called(long seq, var _, ToolCall call) -> called(seq, call);
            case Step.Returned returned -> returned(returned);
            case Step.Problem(long seq, var _, String text) -> error(ErrorText.of(text), seq);
            case Step.Changed changed -> changed(changed);
            case Step.Modelled(long seq, var _, long cost) -> {
                counters.costNanos += cost;
                counters.modelCalls++;
                counters.modelCallsIdle++;
                counters.costSeq = seq;
            }
            case Step.Charged(long seq, var _, long total) -> {
                counters.costNanos = Math.max(counters.costNanos, total);
                counters.costSeq = seq;
            }
            case Step.Guided _ -> progress(step);
        }
    }

    private void progress(Step step) {
        counters.progressSeq = step.seq();
        counters.progressAt = step.at();
        counters.callsIdle = 0;
        counters.modelCallsIdle = 0;
    }

    private void called(long seq, ToolCall call) {
        Call entry = Call.of(seq, call);
        if (entry.isProcess()) {
            add(processes, entry, PROCESSES);
            counters.waitSeq = entry.isWait() ? seq : counters.waitSeq;
        } else {
            counters.calls++;
            add(calls, entry, CALLS);
        }
        Constraint.violation(runLimits.constraints(), call).ifPresent(violation -> violated(violation, seq));
    }

    private static void add(Deque<Call> window, Call call, int max) {
        if (window.size() == max) {
            window.removeFirst();
        }
        window.addLast(call);
    }

    private void violated(Constraint.Violation violation, long seq) {
        violations.put(
                violation.key(),
                violations
                        .find(violation.key())
                        .map(tally -> tally.plus("", seq))
                        .orElseGet(() -> Tally.first(violation.text(), "", seq)));
    }

    private void returned(Step.Returned step) {
        ToolResult result = step.result();
        Optional<Call> open = open(result.id());
        boolean isRefused = result.failed() && result.content().contains(REFUSED_FOR_MESSAGE);
        if (open.isEmpty() || isRefused) {
            return;
        }
        Call call = open.get();
        counters.callsIdle += call.isProcess() ? 0 : 1;
        if (result.failed()) {
            failed(call, ErrorText.of(result.content()), step.seq());
        } else {
            passed(call, step);
        }
    }

    /// Returns the newest open call with this id.
    private Optional<Call> open(String id) {
        return Stream.concat(calls.reversed().stream(), processes.reversed().stream())
                .filter(call -> call.id().equals(id) && call.outcome() == Call.Outcome.OPEN)
                .findFirst();
    }

    private void failed(Call call, ErrorText error, long seq) {
        counters.failedCalls += call.isProcess() ? 0 : 1;
        counters.failedSinceCheck += call.isProcess() ? 0 : 1;
        finish(call, Call.Outcome.FAILED);
        Optional<Tally> known = failures.find(call.signature());
        String mark = call.isProcess() ? Steps.PROCESS : key(error);
        // A call that fails in another way after a change is work, and a process after a sleep waits for something.
        boolean isOther = known.filter(tally -> !tally.mark().equals(mark) && counters.versionSeq > tally.lastSeq()
                        || call.isProcess() && counters.waitSeq > tally.lastSeq())
                .isPresent();
        failures.put(
                call.signature(),
                known.filter(_ -> !isOther)
                        .map(tally -> tally.plus(mark, seq))
                        .orElseGet(() -> Tally.first(call.text(), mark, seq)));
        error(error, seq);
    }

    private void error(ErrorText error, long seq) {
        if (!error.line().isEmpty()) {
            errors.put(
                    key(error),
                    errors.find(key(error))
                            .map(tally -> tally.plus("", seq))
                            .orElseGet(() -> Tally.first(error.line(), "", seq)));
        }
    }

    private static String key(ErrorText error) {
        return Digests.sha256(error.key()).substring(0, KEY);
    }

    private void passed(Call call, Step step) {
        finish(call, Call.Outcome.PASSED);
        failures.remove(call.signature());
        if (call.isCheck()) {
            errors.clear();
            files.replaceAll(EditedFile::checked);
            counters.failedSinceCheck = 0;
        }
        boolean isNew = !signatures.contains(call.signature());
        // The same check after a change says something new.
        if (isNew || call.isCheck() && counters.versionSeq > counters.progressSeq) {
            progress(step);
        }
        remember(call.signature());
    }

    private void remember(String signature) {
        signatures.remove(signature);
        if (signatures.size() == SIGNATURES) {
            signatures.removeFirst();
        }
        signatures.addLast(signature);
    }

    private void finish(Call call, Call.Outcome outcome) {
        if (call.isProcess()) {
            processes.remove(call);
            return;
        }
        var all = new ArrayList<Call>(calls.size());
        for (Call one : calls) {
            all.add(one.equals(call) ? one.with(outcome) : one);
        }
        calls.clear();
        calls.addAll(all);
    }

    private void changed(Step.Changed step) {
        if (EditedFiles.isGenerated(step.path())) {
            return;
        }
        Constraint.violation(runLimits.constraints(), step.path()).ifPresent(found -> violated(found, step.seq()));
        EditedFile file = files.find(step.path()).orElse(EditedFile.UNKNOWN);
        if (file.isNew(step.version())) {
            counters.versionSeq = step.seq();
            progress(step);
        }
        files.put(step.path(), file.changed(step.seq(), step.isNew(), step.version()));
    }

    /// Returns the finished calls of the window, oldest first.
    List<Call> finished() {
        return calls.stream()
                .filter(call -> call.outcome() != Call.Outcome.OPEN)
                .toList();
    }

    Instant startedAt() {
        return runLimits.startedAt();
    }
}
