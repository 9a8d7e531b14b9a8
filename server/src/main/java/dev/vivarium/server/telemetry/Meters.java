package dev.vivarium.server.telemetry;

import dev.vivarium.core.ByteBudget;
import dev.vivarium.core.egress.EgressRecord;
import dev.vivarium.core.sandbox.DiskSpace;
import dev.vivarium.core.sandbox.PauseReason;
import dev.vivarium.core.sandbox.PoolStatus;
import dev.vivarium.core.sandbox.SandboxListener.Origin;
import dev.vivarium.model.End;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Usage;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.Locale;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/// Prometheus meters of sessions, commands, pool, files, limits and the JVM. Thread-safe.
///
/// Counts are counters, and readers derive rates from them.
final class Meters {
    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final Counter reused = counter("vivarium.sessions.reused", "Threads that found their session again");
    private final Timer lifetime = Timer.builder("vivarium.session.lifetime")
            .description("How long sessions lived")
            .register(registry);
    private final Timer duration = Timer.builder("vivarium.command.duration")
            .description("How long commands ran")
            .publishPercentileHistogram()
            .minimumExpectedValue(Duration.ofMillis(1))
            .maximumExpectedValue(Duration.ofMinutes(10))
            .register(registry);
    private final Counter refusedCommands = counter("vivarium.commands.refused", "Commands that the policy refused");
    private final Counter orphans =
            counter("vivarium.orphans.removed", "Leftovers without an owner that were removed or moved to orphans/");
    private final DistributionSummary uploaded = bytes("vivarium.files.uploaded", "Files written by callers");
    private final DistributionSummary downloaded = bytes("vivarium.files.downloaded", "Files read by callers");

    private final Counter egressUp = egress("up");
    private final Counter egressDown = egress("down");

    Meters() {
        new JvmMemoryMetrics().bindTo(registry);
        new JvmThreadMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        new UptimeMetrics().bindTo(registry);
    }

    /// Registers gauges of the sessions and the pool.
    void watch(Supplier<PoolStatus> pool) {
        gauge("vivarium.sessions.active", "Number of sessions", pool, PoolStatus::active);
        gauge("vivarium.sessions.hibernated", "Sessions with a disk and no process", pool, PoolStatus::hibernated);
        gauge("vivarium.sessions.capacity", "Maximum number of sessions", pool, PoolStatus::capacity);
        gauge("vivarium.pool.size", "Target size of the pool", pool, PoolStatus::target);
        gauge("vivarium.pool.available", "Warm sandboxes that are ready", pool, PoolStatus::available);
        gauge("vivarium.pool.utilization", "Share of the pool in use, 0 to 1", pool, Meters::utilization);
    }

    /// Registers a counter of lost audit entries.
    void watchAudit(LongSupplier dropped) {
        FunctionCounter.builder("vivarium.audit.dropped", dropped, LongSupplier::getAsLong)
                .description("Entries of the audit that were lost")
                .register(registry);
    }

    /// Registers gauges of the free space of the home and of its low-water mark.
    void watchDisk(Supplier<DiskSpace.Reading> disk) {
        gauge("vivarium.disk.free", "Free bytes of the home's file system", disk, DiskSpace.Reading::freeBytes);
        gauge(
                "vivarium.disk.low_water",
                "Free bytes below which no sandbox is created",
                disk,
                DiskSpace.Reading::lowWaterBytes);
        gauge(
                "vivarium.disk.level",
                "0 for ok, 1 for low, 2 for full",
                disk,
                reading -> reading.level().ordinal());
    }

    /// Registers a gauge of the average size of a workspace.
    void watchWorkspaces(DoubleSupplier space) {
        Gauge.builder("vivarium.workspace.average", space, DoubleSupplier::getAsDouble)
                .description("Disk space that the workspace of a session uses on average")
                .baseUnit("bytes")
                .strongReference(true)
                .register(registry);
    }

    /// Registers a gauge of the memory for unfinished work and a counter of refusals.
    void watchMemory(ByteBudget budget) {
        Gauge.builder("vivarium.memory.in.flight", budget, ByteBudget::held)
                .description("Memory that is held for unfinished requests")
                .baseUnit("bytes")
                .strongReference(true)
                .register(registry);
        FunctionCounter.builder("vivarium.memory.refused", budget, ByteBudget::refusals)
                .description("Requests that were refused because too much memory was in flight")
                .register(registry);
    }

    /// Returns all meters in Prometheus's text format.
    String text() {
        return registry.scrape();
    }

    void sessionCreated(Origin origin, Duration took) {
        Timer.builder("vivarium.session.creation")
                .description("How long it took to give a thread its session")
                .tag("origin", origin.name().toLowerCase(Locale.ROOT))
                .publishPercentileHistogram()
                .register(registry)
                .record(took);
    }

    void sessionReused() {
        reused.increment();
    }

    void sessionEnded(End.Cause cause, Duration lived) {
        lifetime.record(lived);
        tagged("vivarium.sessions.ended", "Sessions that ended, by cause", "cause", cause.text());
    }

    void sessionHibernated(PauseReason why) {
        tagged(
                "vivarium.sessions.hibernations",
                "Sessions that kept their disk without a process, by cause",
                "cause",
                why.cause().text());
    }

    void sessionWoken(Duration took) {
        Timer.builder("vivarium.session.wake")
                .description("How long it took to start a hibernated session again")
                .publishPercentileHistogram()
                .register(registry)
                .record(took);
    }

    void sessionRefused(Failure failure) {
        tagged("vivarium.sessions.refused", "Sessions that could not be given", "reason", failure.slug());
    }

    void commandEnded(Exit exit) {
        duration.record(exit.wall());
        commands(
                exit.cause() == Exit.Cause.EXITED
                        ? exit.code() == 0 ? "ok" : "nonzero"
                        : exit.cause().text());
    }

    void commandFailed() {
        commands("failed");
    }

    void commandRefused() {
        refusedCommands.increment();
    }

    void uploaded(long bytes) {
        uploaded.record(bytes);
    }

    void downloaded(long bytes) {
        downloaded.record(bytes);
    }

    void limitExceeded(String limit) {
        tagged("vivarium.limits.exceeded", "Calls that met a limit", "limit", limit);
    }

    void passed(EgressRecord egressRecord) {
        tagged(
                "vivarium.egress.connections",
                "Connections from sandboxes outwards, by what became of them",
                "verdict",
                egressRecord.verdict().text());
        egressUp.increment(egressRecord.up());
        egressDown.increment(egressRecord.down());
    }

    void modelCalled(Usage usage, int status, Duration took) {
        Timer.builder("vivarium.model.calls")
                .description("Questions of agents to models, by the status of the answer")
                .tag("status", String.valueOf(status))
                .register(registry)
                .record(took);
        modelTokens("input", usage.inputTokens());
        modelTokens("output", usage.outputTokens());
        modelTokens("cache_read", usage.cacheReadTokens());
        modelTokens("cache_write", usage.cacheWriteTokens());
        counter("vivarium.model.cost.usd", "What models cost, in dollars")
                .increment(usage.costUsd().doubleValue());
    }

    private void modelTokens(String kind, long tokens) {
        Counter.builder("vivarium.model.tokens")
                .description("Tokens of models, by kind")
                .tag("kind", kind)
                .register(registry)
                .increment(tokens);
    }

    void orphanRemoved() {
        orphans.increment();
    }

    private void commands(String outcome) {
        tagged("vivarium.commands", "Commands that ended, by outcome", "outcome", outcome);
    }

    private void tagged(String name, String meaning, String tag, String value) {
        Counter.builder(name)
                .description(meaning)
                .tag(tag, value)
                .register(registry)
                .increment();
    }

    private Counter counter(String name, String meaning) {
        return Counter.builder(name).description(meaning).register(registry);
    }

    private Counter egress(String direction) {
        return Counter.builder("vivarium.egress")
                .description("What sandboxes sent outwards and received")
                .baseUnit("bytes")
                .tag("direction", direction)
                .register(registry);
    }

    private DistributionSummary bytes(String name, String meaning) {
        return DistributionSummary.builder(name)
                .description(meaning)
                .baseUnit("bytes")
                .register(registry);
    }

    private <T> void gauge(String name, String meaning, Supplier<T> values, ToDoubleFunction<T> number) {
        Gauge.builder(name, values, source -> number.applyAsDouble(source.get()))
                .description(meaning)
                .strongReference(true)
                .register(registry);
    }

    private static double utilization(PoolStatus pool) {
        return pool.target() == 0 ? 0 : 1 - Math.min(1.0, (double) pool.available() / pool.target());
    }
}
