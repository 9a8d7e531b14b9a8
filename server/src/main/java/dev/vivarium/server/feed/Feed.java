package dev.vivarium.server.feed;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Rights;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.LiveFeed;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.core.store.SandboxRow;
import dev.vivarium.model.Event;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.UserId;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import tools.jackson.core.JsonGenerator;

/// Live events of all sandboxes, filtered by access rights. Thread-safe.
///
/// An admin receives all events. A user receives events of own sandboxes and of sandboxes with an invitation to watch.
/// A token receives events of its sandbox. The feed checks invitations at each event.
public final class Feed {
    private static final int REMEMBERED = 10_000;

    private final EventLog log;
    private final Rights rights;
    private final Function<SandboxId, Optional<SandboxRow.Owner>> rows;

    /// Cached owners. The owner of a sandbox never changes.
    private final Map<SandboxId, SandboxRow.Owner> owners = new ConcurrentHashMap<>();

    public Feed(EventLog log, Sandboxes sandboxes, Rights rights) {
        this.log = log;
        this.rights = rights;
        this.rows = sandboxes::ownerOf;
    }

    /// Subscribes `who` to the feed.
    public Subscription open(Principal who) {
        return new Subscription(log.listen(), who);
    }

    private Optional<SandboxRow.Owner> owner(SandboxId sandbox) {
        SandboxRow.Owner known = owners.get(sandbox);
        if (known != null) {
            return Optional.of(known);
        }
        Optional<SandboxRow.Owner> found = rows.apply(sandbox);
        if (owners.size() > REMEMBERED) {
            owners.clear();
        }
        found.ifPresent(owner -> owners.put(sandbox, owner));
        return found;
    }

    /// Subscription of one principal. Confined to one worker at a time.
    public final class Subscription {
        private final LiveFeed listener;
        private final Principal who;

        private Subscription(LiveFeed listener, Principal who) {
            this.listener = listener;
            this.who = who;
        }

        /// Returns the next events that the subscriber may see and that match the filter. Waits at most
        /// `timeout`. It reads the filter after the wait, because the filter can change meanwhile.
        public LiveFeed.Heard next(Duration timeout, Supplier<FeedFilter> wanted) throws InterruptedException {
            LiveFeed.Heard batch = listener.next(timeout);
            FeedFilter filter = wanted.get();
            var gaps = batch.missed().gaps().stream()
                    .filter(gap -> maySee(gap.sandbox()))
                    .toList();
            var events = batch.events().stream()
                    .filter(event -> maySee(event.sandbox()) && filter.includes(event, entities(event)))
                    .toList();
            return new LiveFeed.Heard(new LiveFeed.Missed(gaps, batch.missed().isComplete()), events);
        }

        private boolean maySee(SandboxId sandbox) {
            return scopes(sandbox).isPresent();
        }

        /// Returns the subscriber's scopes for a sandbox, or nothing if the subscriber may not see the sandbox.
        private Optional<Scopes> scopes(SandboxId sandbox) {
            return switch (who) {
                case Principal.Admin _ -> Optional.of(rights.most());
                case Principal.User(var user) -> owner(sandbox).flatMap(owner -> scopes(user, owner));
                case Principal.Holder(var grant)
                when grant.sandbox().equals(sandbox) ->
                    owner(sandbox)
                            .flatMap(owner -> rights.of(who, new Rights.Target(sandbox, owner.thread(), owner.user())));
                case Principal.Holder _, Principal.Worker _ -> Optional.empty();
            };
        }

        private Optional<Scopes> scopes(UserId user, SandboxRow.Owner owner) {
            return rights.ofUser(user, owner.thread(), owner.user())
                    .filter(scopes -> owner.user().equals(user) || scopes.allows(Scope.SHELL_RO));
        }

        private EventEntities entities(Event event) {
            return new EventEntities(event, () -> thread(event.sandbox()));
        }

        /// Writes an event and its entities.
        public void write(JsonGenerator out, Event event) {
            VisibleEvent.of(event, scopes(event.sandbox()).orElse(Scopes.NONE)).message(out);
            out.writeStringProperty("entity_type", "sandbox");
            out.writeStringProperty("entity_id", event.sandbox().value());
            thread(event.sandbox()).ifPresent(thread -> out.writeStringProperty("thread_id", thread));
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
            out.writeStringProperty("sandbox_id", gap.sandbox().value());
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
