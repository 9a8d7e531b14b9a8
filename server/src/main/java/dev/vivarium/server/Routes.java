package dev.vivarium.server;

import static dev.vivarium.server.http.Route.Access.OWN;

import dev.vivarium.server.api.AdminSandboxesHandler;
import dev.vivarium.server.api.AlertsHandler;
import dev.vivarium.server.api.AllReviewsHandler;
import dev.vivarium.server.api.AuditHandler;
import dev.vivarium.server.api.CleanupHandler;
import dev.vivarium.server.api.ConnectionsHandler;
import dev.vivarium.server.api.CreateSessionHandler;
import dev.vivarium.server.api.DownloadFileHandler;
import dev.vivarium.server.api.EgressHandler;
import dev.vivarium.server.api.EventsHandler;
import dev.vivarium.server.api.ExecHandler;
import dev.vivarium.server.api.ExecuteHandler;
import dev.vivarium.server.api.FeedHandler;
import dev.vivarium.server.api.ForensicsHandler;
import dev.vivarium.server.api.GetSessionHandler;
import dev.vivarium.server.api.GitHandler;
import dev.vivarium.server.api.GitRunsHandler;
import dev.vivarium.server.api.HealthHandler;
import dev.vivarium.server.api.KeysHandler;
import dev.vivarium.server.api.ListFilesHandler;
import dev.vivarium.server.api.ListSandboxesHandler;
import dev.vivarium.server.api.ListThreadsHandler;
import dev.vivarium.server.api.MembersHandler;
import dev.vivarium.server.api.MessagesHandler;
import dev.vivarium.server.api.MetricsHandler;
import dev.vivarium.server.api.NegotiateHandler;
import dev.vivarium.server.api.NodeHandler;
import dev.vivarium.server.api.OpenApiHandler;
import dev.vivarium.server.api.PauseHandler;
import dev.vivarium.server.api.ProcessesHandler;
import dev.vivarium.server.api.QuotasHandler;
import dev.vivarium.server.api.ReadFileHandler;
import dev.vivarium.server.api.RefreshHandler;
import dev.vivarium.server.api.ReviewsHandler;
import dev.vivarium.server.api.RevokeHandler;
import dev.vivarium.server.api.RunHistoryHandler;
import dev.vivarium.server.api.RunsHandler;
import dev.vivarium.server.api.SandboxLifecycleHandler;
import dev.vivarium.server.api.SnapshotsHandler;
import dev.vivarium.server.api.SpawnHandler;
import dev.vivarium.server.api.TaskClaimsHandler;
import dev.vivarium.server.api.TasksHandler;
import dev.vivarium.server.api.ThreadHandler;
import dev.vivarium.server.api.UploadFileHandler;
import dev.vivarium.server.api.ViewHandler;
import dev.vivarium.server.api.WebhooksHandler;
import dev.vivarium.server.api.WelcomeHandler;
import dev.vivarium.server.api.WorkerHandler;
import dev.vivarium.server.api.WriteFileHandler;
import dev.vivarium.server.console.SessionHandler;
import dev.vivarium.server.git.GitRelayHandler;
import dev.vivarium.server.http.HostRoute;
import dev.vivarium.server.http.Route;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.model.ModelHandler;
import dev.vivarium.server.preview.PreviewHandler;
import dev.vivarium.server.preview.PreviewHosts;
import dev.vivarium.server.socket.ShellsHandler;
import dev.vivarium.server.socket.SocketsHandler;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/// Table of all routes, in the order of the OpenAPI document. Immutable.
///
/// The build writes the document from the descriptions, without a server. A server binds each description to its
/// handler.
final class Routes {
    private record Entry(RouteDescription description, Function<Vivarium.Handlers, Route.Operation> operation) {}

    private static final List<Entry> ALL = List.of(
            route(WelcomeHandler.WELCOME, all -> all.welcome::handle),
            route(HealthHandler.HEALTH, all -> all.healthReport::handle),
            route(NodeHandler.NODE, all -> all.node::handle),
            route(QuotasHandler.QUOTAS, all -> all.quotas::handle),
            route(OpenApiHandler.DOCUMENT, all -> all.openApi::handle),
            route(CreateSessionHandler.CREATE_SESSION, all -> all.createSession::handle),
            route(GetSessionHandler.GET_SESSION, all -> all.getSession::handle),
            route(ExecuteHandler.EXECUTE, all -> all.execute::handle),
            route(UploadFileHandler.UPLOAD, all -> all.uploadFile::handle),
            route(DownloadFileHandler.DOWNLOAD, all -> all.downloadFile::handle),
            route(ListFilesHandler.LIST, all -> all.listFiles::handle),
            route(CleanupHandler.CLEANUP, all -> all.cleanup::handle),
            route(MetricsHandler.METRICS, all -> all.metricsText::handle),
            route(SnapshotsHandler.TAKE, all -> all.snapshots::take),
            route(SnapshotsHandler.LIST, all -> all.snapshots::list),
            route(SnapshotsHandler.FIND, all -> all.snapshots::find),
            route(SnapshotsHandler.DELETE, all -> all.snapshots::delete),
            route(SnapshotsHandler.RESTORE, all -> all.snapshots::restore),
            route(SnapshotsHandler.FORK, all -> all.snapshots::fork),
            route(KeysHandler.ISSUE, all -> all.keys::issue),
            route(KeysHandler.LIST, all -> all.keys::list),
            route(KeysHandler.REVOKE, all -> all.keys::revoke),
            route(PreviewHandler.ADD_SLASH, all -> all.preview::addSlash),
            route(PreviewHandler.PREVIEW, all -> all.preview::byPath),
            route(ReadFileHandler.READ, all -> all.readFile::handle),
            route(WriteFileHandler.PUT, all -> all.writeFile::put),
            route(WriteFileHandler.MOVE, all -> all.writeFile::move),
            route(WriteFileHandler.DELETE, all -> all.writeFile::delete),
            route(ExecHandler.EXEC, all -> all.exec::handle),
            route(ProcessesHandler.LIST, all -> all.processes::list),
            route(ProcessesHandler.GET, all -> all.processes::get),
            route(ProcessesHandler.KILL, all -> all.processes::kill),
            route(ProcessesHandler.SIGNAL, all -> all.processes::signal),
            route(ProcessesHandler.STDIN, all -> all.processes::stdin),
            route(ProcessesHandler.OUTPUT, all -> all.processes::output),
            route(PauseHandler.PAUSE, all -> all.pause::pause),
            route(PauseHandler.RESUME, all -> all.pause::resume),
            route(ListThreadsHandler.LIST, all -> all.listThreads::handle),
            route(ThreadHandler.ARCHIVE, all -> all.thread::archive),
            route(ThreadHandler.HEARTBEAT, all -> all.thread::heartbeat),
            route(ThreadHandler.SANDBOX_HEARTBEAT, all -> all.thread::heartbeat),
            route(ThreadHandler.FIND, all -> all.thread::find),
            route(ThreadHandler.RELEASE, all -> all.thread::release),
            route(NegotiateHandler.NEGOTIATE, all -> all.negotiate::handle),
            route(RefreshHandler.REFRESH, all -> all.refresh::refresh),
            route(RefreshHandler.DOWNSCOPE, all -> all.refresh::downscope),
            route(RevokeHandler.REVOKE, all -> all.revoke::handle),
            route(MembersHandler.INVITE, all -> all.members::invite),
            route(MembersHandler.LIST, all -> all.members::list),
            route(MembersHandler.REMOVE, all -> all.members::remove),
            route(ConnectionsHandler.LIST, all -> all.connections::list),
            route(EgressHandler.SHOW, all -> all.egress::show),
            route(EgressHandler.CHANGE, all -> all.egress::change),
            route(AuditHandler.OF_THREAD, all -> all.auditEntries::ofThread),
            route(AuditHandler.OF_ALL, all -> all.auditEntries::ofAll),
            route(AdminSandboxesHandler.LIST, all -> all.adminSandboxes::list),
            route(AdminSandboxesHandler.KILL, all -> all.adminSandboxes::kill),
            route(AdminSandboxesHandler.ROTATE, all -> all.adminSandboxes::rotate),
            route(SocketsHandler.SHELL, all -> all.socketUpgrades::shell),
            route(SocketsHandler.FEED, all -> all.socketUpgrades::feed),
            route(SocketsHandler.EVENTS, all -> all.socketUpgrades::events),
            route(ShellsHandler.LIST, all -> all.shells::list),
            route(ShellsHandler.OPEN_SHELL, all -> all.shells::open),
            route(ShellsHandler.END, all -> all.shells::end),
            route(EventsHandler.LIST, all -> all.events::list),
            route(EventsHandler.APPEND, all -> all.events::append),
            route(MessagesHandler.POST, all -> all.messages::post),
            route(MessagesHandler.TAKE, all -> all.messages::take),
            route(MessagesHandler.INTERVENE, all -> all.messages::intervene),
            route(FeedHandler.STREAM, all -> all.feed::stream),
            route(SpawnHandler.SPAWN, all -> all.spawn::handle),
            route(ListSandboxesHandler.LIST, all -> all.listSandboxes::handle),
            route(RunsHandler.DETAILS, all -> all.runDetails::details),
            route(RunHistoryHandler.LIST, all -> all.runHistory::list),
            route(RunHistoryHandler.GET, all -> all.runHistory::get),
            route(RunHistoryHandler.CANCEL, all -> all.runHistory::cancel),
            route(ForensicsHandler.GET, all -> all.forensics::get),
            route(GitRunsHandler.SAVE, all -> all.gitRuns::save),
            route(GitRunsHandler.LIST, all -> all.gitRuns::list),
            route(GitRunsHandler.REMOVE, all -> all.gitRuns::remove),
            route(GitRunsHandler.GET, all -> all.gitRuns::get),
            route(GitRunsHandler.COMMIT, all -> all.gitRuns::commit),
            route(GitRunsHandler.PUSH, all -> all.gitRuns::push),
            route(GitHandler.LIST_BRANCHES, all -> all.gitHost::listBranches),
            route(GitHandler.DELETE_BRANCH, all -> all.gitHost::deleteBranch),
            route(GitHandler.LIST_COMMITS, all -> all.gitHost::listCommits),
            route(GitHandler.COMPARE, all -> all.gitHost::compare),
            route(GitHandler.LIST_PULLS, all -> all.gitHost::listPulls),
            route(GitHandler.OPEN_PULL, all -> all.gitHost::openPull),
            route(GitHandler.GET_PULL, all -> all.gitHost::getPull),
            route(GitHandler.MERGE, all -> all.gitHost::merge),
            route(TasksHandler.ADD, all -> all.tasks::add),
            route(TasksHandler.ADD_GRAPH, all -> all.tasks::addGraph),
            route(TasksHandler.LIST, all -> all.tasks::list),
            route(TasksHandler.EVENTS, all -> all.tasks::events),
            route(TasksHandler.GET, all -> all.tasks::get),
            route(TasksHandler.EDIT, all -> all.tasks::edit),
            route(TasksHandler.CANCEL, all -> all.tasks::cancel),
            route(TasksHandler.RETRY, all -> all.tasks::retry),
            route(TasksHandler.GRAPH, all -> all.tasks::graph),
            route(TaskClaimsHandler.CLAIM, all -> all.taskClaims::claim),
            route(TaskClaimsHandler.HEARTBEAT, all -> all.taskClaims::heartbeat),
            route(TaskClaimsHandler.COMPLETE, all -> all.taskClaims::complete),
            route(TaskClaimsHandler.FAIL, all -> all.taskClaims::fail),
            route(SandboxLifecycleHandler.END, all -> all.sandboxLifecycle::end),
            route(SandboxLifecycleHandler.PAUSE, all -> all.sandboxLifecycle::pause),
            route(SandboxLifecycleHandler.RESUME, all -> all.sandboxLifecycle::resume),
            route(WorkerHandler.TASK, all -> all.worker::task),
            route(WorkerHandler.STATUS, all -> all.worker::status),
            route(WorkerHandler.PROGRESS, all -> all.worker::progress),
            route(WorkerHandler.RESULTS, all -> all.worker::results),
            route(WorkerHandler.HEARTBEAT, all -> all.worker::heartbeat),
            route(ReviewsHandler.ASK, all -> all.reviews::ask),
            route(ReviewsHandler.AWAIT, all -> all.reviews::await),
            route(ReviewsHandler.LIST, all -> all.reviews::list),
            route(ReviewsHandler.DECIDE, all -> all.reviews::decide),
            route(AllReviewsHandler.LIST, all -> all.allReviews::handle),
            route(WebhooksHandler.ADD, all -> all.webhooks::add),
            route(WebhooksHandler.LIST, all -> all.webhooks::list),
            route(WebhooksHandler.GET, all -> all.webhooks::get),
            route(WebhooksHandler.DELETE, all -> all.webhooks::delete),
            route(WebhooksHandler.TEST, all -> all.webhooks::test),
            route(WebhooksHandler.DELIVERIES, all -> all.webhooks::deliveries),
            route(WebhooksHandler.REPLAY, all -> all.webhooks::replay),
            route(AlertsHandler.LIST, all -> all.alerts::list),
            route(AlertsHandler.ACKNOWLEDGE, all -> all.alerts::acknowledge),
            route(ViewHandler.TREE, all -> all.view::tree),
            route(ViewHandler.FILE, all -> all.view::file),
            route(ViewHandler.DIFF, all -> all.view::diff),
            route(ViewHandler.TERMINAL, all -> all.view::terminal),
            route(SessionHandler.SIGN_IN, all -> all.session::signIn),
            route(SessionHandler.CODE, all -> all.session::makeLink),
            route(SessionHandler.SHOW, all -> all.session::show),
            route(SessionHandler.SIGN_OUT, all -> all.session::signOut));

    private Routes() {}

    private static Entry route(RouteDescription description, Function<Vivarium.Handlers, Route.Operation> operation) {
        return new Entry(description, operation);
    }

    static List<RouteDescription> descriptions() {
        return ALL.stream().map(Entry::description).toList();
    }

    static List<Route> of(Vivarium.Handlers handlers) {
        return ALL.stream()
                .map(entry -> entry.description.to(entry.operation.apply(handlers)))
                .toList();
    }

    /// Returns the routes to the ports of sandboxes, by host name.
    static List<HostRoute> hosts(PreviewHandler preview, String domain) {
        var hosts = new PreviewHosts(domain);
        return List.of(new HostRoute(hosts::find, Route.undocumented(Route.ANY, "/{rest…}", OWN, preview::byHost)));
    }

    /// Returns the routes for programs inside sandboxes, which call through the control port: the routes of the
    /// model gateway and of the git relay, and those of `routes` that workers may call.
    static List<Route> inside(List<Route> routes, ModelHandler model, GitRelayHandler git) {
        var inside = new ArrayList<>(List.of(
                Route.undocumented("POST", "/model/v1/messages", OWN, model::messages),
                Route.undocumented("POST", "/model/v1/messages/count_tokens", OWN, model::countTokens),
                Route.undocumented("POST", "/model/v1/chat/completions", OWN, model::completions),
                Route.undocumented("GET", "/model/v1/models", OWN, model::models),
                // Last, because the router takes the first route that matches.
                Route.undocumented(Route.ANY, "/model/{rest…}", OWN, model::others),
                Route.undocumented("GET", "/git/{repository}/info/refs", OWN, git::info),
                Route.undocumented("POST", "/git/{repository}/git-upload-pack", OWN, git::fetch),
                Route.undocumented("POST", "/git/{repository}/git-receive-pack", OWN, git::push),
                Route.undocumented(Route.ANY, "/git/{rest…}", OWN, git::others)));
        routes.stream()
                .filter(route ->
                        route.access() instanceof Route.Access.Worker || route.access() instanceof Route.Access.Inside)
                .forEach(inside::add);
        return inside;
    }
}
