package dev.vivarium.server.feed;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.log.EventTypes;
import dev.vivarium.core.webhook.WebhookContent;
import dev.vivarium.json.Json;
import dev.vivarium.model.Event;
import dev.vivarium.model.LogId;
import dev.vivarium.model.Webhook;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// Events for webhooks: those that the owner may see in the feed, in the form of the feed or as a sentence.
/// Thread-safe.
public final class WebhookEvents implements WebhookContent {
    private static final String DEAD = "webhook.dead";

    private final Feed feed;

    public WebhookEvents(Feed feed) {
        this.feed = feed;
    }

    @Override
    public EventTypes types(Webhook webhook) {
        Optional<Set<String>> wanted = filter(webhook).types();
        if (wanted.isEmpty()) {
            return EventTypes.ALL;
        }
        var whole = new HashSet<String>();
        var prefixes = new HashSet<String>();
        for (String type : wanted.get()) {
            if (type.endsWith(".")) {
                prefixes.add(type);
            } else {
                whole.add(type);
                whole.addAll(EventAliases.typesOf(type));
            }
        }
        return new EventTypes(whole, prefixes);
    }

    private static FeedFilter filter(Webhook webhook) {
        List<String> types = webhook.wanted().eventTypes();
        return new FeedFilter(
                types.isEmpty() ? Optional.empty() : Optional.of(Set.copyOf(types)),
                Optional.empty(),
                Optional.empty());
    }

    @Override
    public Optional<String> body(Webhook webhook, Event event) {
        Feed.Viewer viewer = viewer(webhook);
        // A receiver that fails must not get events about its own failures.
        boolean isOwnFailure =
                event.type().equals(DEAD) && event.data().contains(webhook.id().value());
        if (isOwnFailure || !viewer.includes(filter(webhook), event)) {
            return Optional.empty();
        }
        return Optional.of(form(webhook, event));
    }

    @Override
    public String form(Webhook webhook, Event event) {
        byte[] body = switch (webhook.wanted().format()) {
            case JSON -> Json.bytes(out -> viewer(webhook).write(out, event));
            case SLACK -> Json.bytes(out -> out.writeStringProperty("text", EventSentence.of(event)));
        };
        return new String(body, StandardCharsets.UTF_8);
    }

    @Override
    public boolean maySee(Webhook webhook, LogId logId) {
        return viewer(webhook).maySee(logId);
    }

    private Feed.Viewer viewer(Webhook webhook) {
        return feed.viewer(webhook.user().<Principal>map(Principal.User::new).orElseGet(Principal.Admin::new));
    }
}
