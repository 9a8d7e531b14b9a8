package dev.vivarium.core.guard.liveness;

import dev.vivarium.core.guest.GuestStats;
import dev.vivarium.core.run.Agents;
import dev.vivarium.core.run.ReasonCode;
import dev.vivarium.core.run.Restarts;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.End;
import dev.vivarium.model.LivenessEvent;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.Status;
import java.util.Set;
import java.util.stream.Collectors;

/// Rungs of the [Ladder] on real sandboxes. Thread-safe.
record LadderActions(
        Agents agents,
        Sandboxes sandboxes,
        SandboxProbe probe,
        Forensics forensics,
        Quarantine quarantine,
        LivenessLog log)
        implements HeartbeatMonitor.Actions {
    @Override
    public Set<SandboxId> running() {
        return sandboxes.list().stream()
                .filter(info -> info.status() == Status.RUNNING)
                .map(SandboxInfo::id)
                .collect(Collectors.toSet());
    }

    @Override
    public boolean perform(Run run, Ladder.Rung rung) {
        switch (rung) {
            case REPORT -> {
                var lastBeat = run.heartbeat().orElseThrow().at();
                log.append(run, new LivenessEvent.HeartbeatMissed(run.id(), lastBeat), reason(run));
            }
            case PROBE -> {
                return examine(run);
            }
            case RESTART -> fail(run);
            case QUARANTINE -> quarantine(run);
            case FAIL -> {
                fail(run);
                sandboxes.terminate(run.sandbox(), End.Cause.SERVER, silence(run));
            }
        }
        return false;
    }

    /// A later silence of the same run has its own events.
    private static String reason(Run run) {
        return "." + run.heartbeat().orElseThrow().at().toEpochMilli();
    }

    private boolean examine(Run run) {
        SandboxProbe.Findings found = probe.probe(run);
        long total = found.stats().map(GuestStats::diskTotal).orElse(0L);
        long free = found.stats().map(GuestStats::diskFree).orElse(0L);
        var event = new LivenessEvent.Probed(
                run.id(),
                found.stats().isPresent(),
                found.worker(),
                found.channel(),
                found.children(),
                found.stats().map(GuestStats::memoryBytes).orElse(0L),
                total - free,
                free,
                found.oomKills());
        log.append(run, event, reason(run));
        return found.isDiskFull();
    }

    /// Ends the run. The reason code makes another run continue the task.
    private void fail(Run run) {
        forensics.collect(run);
        agents.fail(run, silence(run), ReasonCode.UNRESPONSIVE);
        log.audit(run, silence(run));
    }

    private void quarantine(Run run) {
        forensics.collect(run);
        String reason = silence(run) + "; its disk is full, or it was restarted too often within "
                + Restarts.WINDOW.toMinutes() + " minutes";
        agents.fail(run, reason, ReasonCode.QUARANTINED);
        quarantine.freeze(run, reason);
    }

    private static String silence(Run run) {
        return "the worker missed three heartbeats; the last one was at "
                + run.heartbeat().orElseThrow().at();
    }
}
