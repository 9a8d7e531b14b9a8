package dev.vivarium.sdk;

import dev.vivarium.model.UserId;
import dev.vivarium.sdk.engine.Snapshots;
import dev.vivarium.sdk.http.HttpSnapshots;
import dev.vivarium.sdk.http.Transport;
import java.net.URI;

/// The public API of one server, a sub-client for each of its parts.
///
/// ```
/// var client = RemoteClient.of(URI.create("http://127.0.0.1:8000"), key);
/// SnapshotInfo saved = client.snapshots().take("thread-1", "before-upgrade");
/// ```
///
/// Every expected failure is a `SandboxException` with a `Failure`. The client holds nothing that must be closed.
/// Thread-safe.
public final class RemoteClient {
    private final Transport transport;

    private RemoteClient(Transport transport) {
        this.transport = transport;
    }

    public static RemoteClient of(URI server, String apiKey) {
        return new RemoteClient(new Transport(server, apiKey));
    }

    /// Returns a client for the threads of another user. Without it, the name of a thread means the caller's own
    /// thread, otherwise the only thread of that name that others share with the caller.
    public RemoteClient ofOwner(String user) {
        return new RemoteClient(transport.withOwner(new UserId(user)));
    }

    public URI server() {
        return transport.base();
    }

    /// The state of the server. Needs no valid key. An unhealthy server answers too.
    public Health health() {
        return Health.of(transport);
    }

    /// Threads of the caller and their sandboxes.
    public Threads threads() {
        return new Threads(transport);
    }

    /// Capability tokens for sandboxes, for [SandboxConnection].
    public Tokens tokens() {
        return new Tokens(transport);
    }

    /// Snapshots of the files of threads.
    public Snapshots snapshots() {
        return new HttpSnapshots(transport);
    }

    /// Invitations of other users to threads.
    public Sharing sharing() {
        return new Sharing(transport);
    }

    /// Allow-lists of the hosts that sandboxes may reach.
    public EgressRules egress() {
        return new EgressRules(transport);
    }

    /// Runs of agents.
    public Runs runs() {
        return new Runs(transport);
    }

    /// Tasks of the queue.
    public Tasks tasks() {
        return new Tasks(transport);
    }

    /// Event logs of sandboxes.
    public Events events() {
        return new Events(transport);
    }

    /// Questions of agents to people.
    public Reviews reviews() {
        return new Reviews(transport);
    }

    /// Events that may need a person.
    public Alerts alerts() {
        return new Alerts(transport);
    }

    /// Subscriptions of HTTP receivers to events.
    public Webhooks webhooks() {
        return new Webhooks(transport);
    }

    /// Git repositories of runs, and their branches and pull requests.
    public Git git() {
        return new Git(transport);
    }

    /// Host names of the ports of sandboxes.
    public PreviewHosts previewHosts() {
        return transport.get("/console/session", PreviewHosts::read);
    }

    /// A link that signs a browser in to the console with the rights of this client. It works once, for a few
    /// minutes.
    ///
    /// @param page the page of the console to open, such as `/console/inbox`
    public URI signInLink(String page) {
        return transport.post(
                "/console/session/code",
                out -> out.writeStringProperty("next", page),
                fields -> URI.create(server() + fields.string("path")));
    }

    /// API keys of users. Needs the key of the administrator.
    public Keys keys() {
        return new Keys(transport);
    }
}
