package dev.vivarium.server;

import dev.vivarium.server.api.AdminSandboxesHandler;
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
import dev.vivarium.server.api.GetSessionHandler;
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
import dev.vivarium.server.api.ReadFileHandler;
import dev.vivarium.server.api.RefreshHandler;
import dev.vivarium.server.api.ReviewsHandler;
import dev.vivarium.server.api.RevokeHandler;
import dev.vivarium.server.api.RunLifeHandler;
import dev.vivarium.server.api.RunsHandler;
import dev.vivarium.server.api.SnapshotsHandler;
import dev.vivarium.server.api.SpawnHandler;
import dev.vivarium.server.api.ThreadHandler;
import dev.vivarium.server.api.UploadFileHandler;
import dev.vivarium.server.api.ViewHandler;
import dev.vivarium.server.api.WelcomeHandler;
import dev.vivarium.server.api.WorkerHandler;
import dev.vivarium.server.api.WriteFileHandler;
import dev.vivarium.server.console.SessionHandler;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.preview.PreviewHandler;
import dev.vivarium.server.socket.ShellsHandler;
import dev.vivarium.server.socket.SocketsHandler;
import java.util.List;

/// Descriptions of all routes, in the order of the OpenAPI document. Stateless.
final class RouteDescriptions {
    static final List<RouteDescription> ALL = List.of(
            WelcomeHandler.WELCOME,
            HealthHandler.HEALTH,
            NodeHandler.NODE,
            OpenApiHandler.DOCUMENT,
            CreateSessionHandler.CREATE_SESSION,
            GetSessionHandler.GET_SESSION,
            ExecuteHandler.EXECUTE,
            UploadFileHandler.UPLOAD,
            DownloadFileHandler.DOWNLOAD,
            ListFilesHandler.LIST,
            CleanupHandler.CLEANUP,
            MetricsHandler.METRICS,
            SnapshotsHandler.TAKE,
            SnapshotsHandler.LIST,
            SnapshotsHandler.FIND,
            SnapshotsHandler.DELETE,
            SnapshotsHandler.RESTORE,
            SnapshotsHandler.FORK,
            KeysHandler.ISSUE,
            KeysHandler.LIST,
            KeysHandler.REVOKE,
            PreviewHandler.ADD_SLASH,
            PreviewHandler.PREVIEW,
            ReadFileHandler.READ,
            WriteFileHandler.PUT,
            WriteFileHandler.MOVE,
            WriteFileHandler.DELETE,
            ExecHandler.EXEC,
            ProcessesHandler.LIST,
            ProcessesHandler.GET,
            ProcessesHandler.KILL,
            ProcessesHandler.SIGNAL,
            ProcessesHandler.STDIN,
            ProcessesHandler.OUTPUT,
            PauseHandler.PAUSE,
            PauseHandler.RESUME,
            ListThreadsHandler.LIST,
            ThreadHandler.ARCHIVE,
            ThreadHandler.HEARTBEAT,
            ThreadHandler.FIND,
            ThreadHandler.RELEASE,
            NegotiateHandler.NEGOTIATE,
            RefreshHandler.REFRESH,
            RefreshHandler.DOWNSCOPE,
            RevokeHandler.REVOKE,
            MembersHandler.INVITE,
            MembersHandler.LIST,
            MembersHandler.REMOVE,
            ConnectionsHandler.LIST,
            EgressHandler.SHOW,
            EgressHandler.CHANGE,
            AuditHandler.OF_THREAD,
            AuditHandler.OF_ALL,
            AdminSandboxesHandler.LIST,
            AdminSandboxesHandler.KILL,
            AdminSandboxesHandler.ROTATE,
            SocketsHandler.SHELL,
            SocketsHandler.FEED,
            SocketsHandler.EVENTS,
            ShellsHandler.LIST,
            ShellsHandler.OPEN_SHELL,
            ShellsHandler.END,
            EventsHandler.LIST,
            EventsHandler.APPEND,
            MessagesHandler.POST,
            MessagesHandler.TAKE,
            MessagesHandler.INTERVENE,
            FeedHandler.STREAM,
            SpawnHandler.SPAWN,
            ListSandboxesHandler.LIST,
            RunsHandler.DETAILS,
            RunLifeHandler.END,
            RunLifeHandler.PAUSE,
            RunLifeHandler.RESUME,
            WorkerHandler.TASK,
            WorkerHandler.STATUS,
            WorkerHandler.PROGRESS,
            WorkerHandler.RESULTS,
            WorkerHandler.HEARTBEAT,
            ReviewsHandler.ASK,
            ReviewsHandler.AWAIT,
            ReviewsHandler.LIST,
            ReviewsHandler.DECIDE,
            AllReviewsHandler.LIST,
            ViewHandler.TREE,
            ViewHandler.FILE,
            ViewHandler.DIFF,
            ViewHandler.TERMINAL,
            SessionHandler.SIGN_IN,
            SessionHandler.SHOW,
            SessionHandler.SIGN_OUT);

    private RouteDescriptions() {}
}
