package dev.vivarium.server.feed;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Rights;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.LiveFeed;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.Event;
import dev.vivarium.model.LogId;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskLog;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import tools.jackson.core.JsonGenerator;

/// Live events of all sandboxes and tasks, filtered by access rights. Thread-safe.
///
/// An admin receives all events. A user receives events of own tasks, of own sandboxes, and of sandboxes with an
/// invitation to watch.
/// A token receives events of its sandbox. The feed checks invitations at each event.
public final class Feed {
    private static final int REMEMBERED = 10_000;

    private final EventLog log;
    private final Rights rights;
    private final Function<SandboxId, Optional<ThreadKey>> rows;

    /// Cached owners. The owner of a sandbox never changes.
    private final Map<SandboxId, ThreadKey> owners = new ConcurrentHashMap<>();

    public Feed(EventLog log, Sandboxes sandboxes, Rights rights) {
        this.log = log;
        this.rights = rights;
        this.rows = sandboxes::ownerOf;
    }

    /// Subscribes `who` to the feed.
    public Subscription open(Principal who) {
        return new Subscription(log.listen(), viewer(who));
    }

    /// Returns the view of `who` on all events.
    public Viewer viewer(Principal who) {
        return new Viewer(who);
    }

    private Optional<ThreadKey> owner(SandboxId sandbox) {
        ThreadKey known = owners.get(sandbox);
        if (known != null) {
            return Optional.of(known);
        }
        Optional<ThreadKey> found = rows.apply(sandbox);
        if (owners.size() > REMEMBERED) {
            owners.clear();
        }
        found.ifPresent(owner -> owners.put(sandbox, owner));
        return found;
    }

    /// Subscription of one principal. Confined to one worker at a time.
    public final class Subscription {
        private final LiveFeed listener;
        private final Viewer viewer;

        private Subscription(LiveFeed listener, Viewer viewer) {
            this.listener = listener;
            this.viewer = viewer;
        }

        /// Returns the next events that the subscriber may see and that match the filter. Waits at most
        /// `timeout`. It reads the filter after the wait, because the filter can change meanwhile.
        public LiveFeed.FeedPage next(Duration timeout, Supplier<FeedFilter> wanted) throws InterruptedException {
            LiveFeed.FeedPage batch = listener.next(timeout);
            FeedFilter filter = wanted.get();
            var gaps = batch.missed().gaps().stream()
                    .filter(gap -> viewer.maySee(gap.logId()))
                    .toList();
            var events = batch.events().stream()
                    .filter(event -> viewer.includes(filter, event))
                    .toList();
            return new LiveFeed.FeedPage(
                    new LiveFeed.Missed(gaps, batch.missed().isComplete()), events);
        }

        /// Writes an event and its entities.
        public void write(JsonGenerator out, Event event) {
            viewer.write(out, event);
        }
    }

    /// View of one principal on all events. Thread-safe.
    public final class Viewer {
        private final Principal who;

        private Viewer(Principal who) {
            this.who = who;
        }

        /// Reports whether the principal may see the events of a log now.
        public boolean maySee(LogId logId) {
            return scopes(logId).isPresent();
        }

        /// Reports whether the principal may see an event, and the event matches a filter.
        public boolean includes(FeedFilter filter, Event event) {
            return maySee(event.logId()) && filter.includes(event, entities(event));
        }

        /// Returns the principal's scopes for a log, or nothing if the principal may not see the log.
        private Optional<Scopes> scopes(LogId logId) {
            return switch (logId) {
                case SandboxId sandbox -> scopes(sandbox);
                case TaskLog(var owner) -> Optional.of(rights.maxScopes()).filter(_ -> who.mayActFor(owner));
            };
        }

        private Optional<Scopes> scopes(SandboxId sandbox) {
            return switch (who) {
                case Principal.Admin _ -> Optional.of(rights.maxScopes());
                case Principal.User(var user) -> owner(sandbox).flatMap(owner -> scopes(user, owner));
                case Principal.Holder(var grant)
                when grant.sandbox().equals(sandbox) ->
                    owner(sandbox).flatMap(owner -> rights.of(who, new Rights.Target(sandbox, owner)));
                case Principal.Holder _, Principal.Worker _ -> Optional.empty();
            };
        }

        private Optional<Scopes> scopes(UserId user, ThreadKey owner) {
            return rights.ofUser(user, owner)
                    .filter(scopes -> owner.user().equals(user) || scopes.allows(Scope.SHELL_RO));
        }

        private EventEntities entities(Event event) {
            return new EventEntities(event, () -> event.sandbox().flatMap(this::thread));
        }

        /// Writes an event and its entities.
        public void write(JsonGenerator out, Event event) {
            VisibleEvent.of(event, scopes(event.logId()).orElse(Scopes.NONE)).message(out);
            switch (event.logId()) {
                case SandboxId sandbox -> {
                    out.writeStringProperty("entity_type", "sandbox");
                    out.writeStringProperty("entity_id", sandbox.value());
                    owner(sandbox).ifPresent(owner -> {
                        out.writeStringProperty("thread_id", owner.thread().value());
                        out.writeStringProperty("user_id", owner.user().value());
                    });
                }
                case TaskLog(var owner) -> {
                    out.writeStringProperty("entity_type", "task");
                    entities(event).named("task").ifPresent(task -> out.writeStringProperty("entity_id", task));
                    out.writeStringProperty("user_id", owner.value());
                }
            }
        }

        private Optional<String> thread(SandboxId sandbox) {
            return owner(sandbox).map(owner -> owner.thread().value());
        }
    }

    /// Writes the gaps, so that the client can read the missed events from the logs.
    public static void write(JsonGenerator out, LiveFeed.Missed missed) {
        out.writeNumberProperty(
                "events", missed.gaps().stream().mapToLong(LiveFeed.Gap::events).sum());
        out.writeBooleanProperty("complete", missed.isComplete());
        out.writeArrayPropertyStart("sandboxes");
        for (LiveFeed.Gap gap : missed.gaps()) {
            out.writeStartObject();
            switch (gap.logId()) {
                case SandboxId sandbox -> out.writeStringProperty("sandbox_id", sandbox.value());
                case TaskLog(var owner) -> out.writeStringProperty("tasks_of", owner.value());
            }
            out.writeNumberProperty("after_seq", gap.afterSeq());
            out.writeNumberProperty("until_seq", gap.untilSeq());
            out.writeEndObject();
        }
        out.writeEndArray();
    }

    /// Reports whether the subscriber missed events.
    public static boolean isAny(LiveFeed.Missed missed) {
        return !missed.gaps().isEmpty() || !missed.isComplete();
    }
}
