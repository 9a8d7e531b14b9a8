package dev.vivarium.server.socket;

import dev.vivarium.core.access.AuditEntry.Kind;
import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.log.LiveFeed;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Event;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.feed.Feed;
import dev.vivarium.server.feed.FeedFilter;
import dev.vivarium.server.http.Admission;
import dev.vivarium.server.http.Caller;
import dev.vivarium.server.http.Credential;
import dev.vivarium.server.http.Presence;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One listener to what happens to all sandboxes that it may hear of. It chooses, and may choose again at any time.
/// What it does not read in time is not kept for it: it is told which events those were. Thread-safe.
public final class FeedSocket extends GuardedSocket {
    private static final Logger LOG = LoggerFactory.getLogger(FeedSocket.class);

    private final Duration heartbeat;
    private final Feed feed;
    private final AtomicBoolean shown = new AtomicBoolean();
    private volatile Optional<Feed.Ear> ear = Optional.empty();
    private volatile FeedFilter filter;
    private volatile boolean left;

    /// @param filter what is wanted by who does not say
    FeedSocket(Sockets sockets, SocketAudit controlPort, Feed feed, FeedFilter filter) {
        super(sockets, controlPort, "");
        this.heartbeat = sockets.heartbeat();
        this.feed = feed;
        this.filter = filter;
    }

    @Override
    Optional<Presence.Way> way() {
        return Optional.empty();
    }

    @Override
    Scope previewAccess() {
        return Scope.SHELL_RO;
    }

    /// Whoever has a key, or a token that lets them watch its sandbox.
    @Override
    Caller admit(Admission admission, Credential credential, Scope wanted) {
        Principal who = admission.identify(credential);
        return who instanceof Principal.Holder(var grant)
                ? admission.admit(grant.sandbox().value(), credential, wanted)
                : Caller.of(who);
    }

    @Override
    Scope settle(Caller caller, JsonFields first) {
        filter = FeedFilter.read(first).or(filter);
        first.refuseOthers();
        ear = Optional.of(feed.open(caller.principal().orElseThrow()));
        controlPort().did(caller, Kind.USED, "listens");
        return Scope.SHELL_RO;
    }

    @Override
    void greet() {
        peer().send(SocketMessages.message("connected", filter::write));
        ear.filter(_ -> shown.compareAndSet(false, true))
                .ifPresent(own -> Thread.ofVirtual().name("feed").start(() -> show(own)));
    }

    private void show(Feed.Ear own) {
        try {
            long pinged = System.nanoTime();
            while (!left) {
                long due = heartbeat.toNanos() - (System.nanoTime() - pinged);
                if (due <= 0) {
                    pinged = System.nanoTime();
                    peer().send(SocketMessages.message(
                            "ping",
                            out -> Json.time(out, "timestamp", controlPort().now())));
                } else {
                    send(own, own.next(Duration.ofNanos(due), () -> filter));
                }
            }
        } catch (CompletionException e) {
            LOG.debug("a listener has gone", e);
            leave();
        } catch (SandboxException e) {
            close(CloseReason.of(e.failure()));
        } catch (InterruptedException e) {
            close(CloseReason.stopping());
        }
    }

    private void send(Feed.Ear own, LiveFeed.Heard heard) {
        if (Feed.isAny(heard.missed())) {
            peer().send(SocketMessages.message("missed", out -> Feed.write(out, heard.missed())));
        }
        for (Event event : heard.events()) {
            peer().send(SocketMessages.message("event", out -> own.write(out, event)));
        }
    }

    @Override
    void obey(Caller caller, String type, JsonFields fields) {
        FeedFilter named = FeedFilter.read(fields);
        fields.refuseOthers();
        filter = switch (type) {
            case "filter" -> named;
            case "subscribe" -> filter.with(named);
            case "unsubscribe" -> filter.without(named);
            case "pong" -> filter;
            default ->
                throw new SandboxException(new Failure.InvalidRequest(
                        "type", "must be filter, subscribe, unsubscribe, ping, pong or auth"));
        };
        if (!type.equals("pong")) {
            peer().send(SocketMessages.message("filter", filter::write));
        }
    }

    @Override
    void vacate() {
        left = true;
    }
}
