package dev.vivarium.server.settings;

import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.access.Tokens;
import dev.vivarium.core.egress.EgressConfig;
import dev.vivarium.core.store.PostgresAddress;
import dev.vivarium.model.GuardianPolicy;
import dev.vivarium.model.OnIdle;
import dev.vivarium.model.ReviewPolicy;
import dev.vivarium.model.Run;
import dev.vivarium.model.TextEnum;
import dev.vivarium.policy.CommandPolicy;
import dev.vivarium.server.settings.EngineConfig.ProviderKind;
import dev.vivarium.server.settings.Setting.Range;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/// Catalogue of all settings of the server. Stateless.
///
/// To add a setting:
///
/// 1. Declare it here, at its place in the reference page.
/// 2. Read it in the record of its concern.
/// 3. Add its row to `docs/reference/configuration.md`, which a test compares with this list.
///
/// Add a setting only if a known user needs it.
public final class Catalogue {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final double MANY = 1_000_000;

    /// Filled by [#add] while this class initializes, so it must be before the settings, and [#ALL] after them.
    private static final List<Setting<?>> DECLARED = new ArrayList<>();

    static final Setting<String> HOST =
            add(Setting.text("host", "127.0.0.1", "Listen address; `0.0.0.0` for all interfaces."));
    static final Setting<Integer> PORT =
            add(Setting.integer("port", 8000, new Range(0, 65_535), "Listen port; 0 for a free port.")
                    .withAlias("PORT"));
    static final Setting<Optional<Path>> TLS_CERT = add(Setting.path(
            "tls-cert",
            "PEM file with the certificate chain. With `tls-key`, `port` serves only TLS. Reloaded on change."));
    static final Setting<Optional<Path>> TLS_KEY = add(Setting.path(
            "tls-key", "PEM file with the private key of `tls-cert` in PKCS #8; only the server may read it."));
    static final Setting<Optional<Path>> HOME =
            add(Setting.path("home", "Data directory of the server; `~/.vivarium` by default."));
    static final Setting<Optional<Path>> CONFIG = add(Setting.path(
            "config", "Configuration file; by default `vivarium.yaml` in the working directory or in `home`."));
    static final Setting<Optional<PostgresAddress>> STORE = add(Setting.postgres(
            "store",
            "PostgreSQL database, `postgresql://user:password@host:5432/vivarium`; SQLite in `home` by default."));
    static final Setting<Optional<String>> API_KEY = add(Setting.text(
            "api-key", "API key of the admin; by default, the first start writes one to `home/credentials`."));

    static final Setting<Optional<URI>> PUBLIC_URL = add(Setting.url(
            "public-url",
            "URL of the server for clients, such as `https://viv.example.com`; by default, the host of the request."));
    static final Setting<Tokens.Mode> TOKEN_MODE = add(Setting.choice(
            "token-mode",
            "jwt",
            List.of("jwt", "opaque"),
            text -> Tokens.Mode.valueOf(text.toUpperCase(Locale.ROOT)),
            "Format of capability tokens: `jwt` (signed claims) or `opaque` (random number)."));
    static final Setting<Scopes> TOKEN_SCOPES = add(Setting.scopes(
            "token-scopes",
            "fs:rw shell process snapshot",
            "Maximum scopes of every caller on the routes of a sandbox, separated by spaces."));
    static final Setting<Duration> THREAD_LEASE = add(Setting.time(
            "thread-lease-minutes",
            60,
            MINUTE,
            new Range(0.01, 525_600),
            "Idle timeout of a sandbox from `POST /threads/{thread_id}/sandbox`."));
    static final Setting<Integer> AUDIT_ENTRIES = add(Setting.integer(
            "audit-entries", 1_000_000, new Range(1000, 100 * MANY), "Maximum number of audit log entries."));

    static final Setting<ProviderKind> PROVIDER = add(Setting.choice(
            "provider",
            "oci",
            List.of("oci", "process", "docker", "kubernetes"),
            ProviderKind::of,
            "Isolation of sandboxes: `oci`, or `process`, which has no isolation and is for tests and laptops."));
    static final Setting<String> RUNTIME = add(Setting.choice(
            "runtime",
            "native",
            List.of("native", "crun", "runc", "runsc"),
            text -> text,
            "Runtime of an `oci` sandbox: `native` (fastest), `crun`, `runc`, or `runsc` (gVisor, for untrusted"
                    + " tenants)."));
    static final Setting<String> IMAGE =
            add(Setting.text("image", "host", "Root file system of sandboxes; see `viv image list`."));
    static final Setting<String> WORKER_IMAGE = add(Setting.text(
            "worker-image",
            "worker",
            "Root file system of sandboxes with a `claude` or `openhands` agent; `viv image build worker` creates"
                    + " it."));
    static final Setting<Duration> REVIEW_TIMEOUT = add(Setting.time(
            "review-timeout-minutes",
            1440,
            MINUTE,
            new Range(0.01, 525_600),
            "Timeout of a review, a question of an agent to a user."));
    static final Setting<ReviewPolicy.OnTimeout> REVIEW_ON_TIMEOUT = add(Setting.choice(
            "review-on-timeout",
            "reject",
            List.of("reject", "approve", "fail", "escalate"),
            text -> TextEnum.of(ReviewPolicy.OnTimeout.class, text),
            "Default of `on_timeout` of a review: what the server does if nobody answers."));
    static final Setting<Boolean> WEBHOOK_ALLOW_PRIVATE = add(Setting.choice(
            "webhook-allow-private",
            "off",
            List.of("on", "off"),
            "on"::equals,
            "Whether webhooks may use receivers with a private address."));
    static final Setting<Integer> WEBHOOK_ATTEMPTS = add(Setting.integer(
            "webhook-attempts",
            12,
            new Range(1, 100),
            "Number of requests after which the server gives up a delivery."));
    static final Setting<Duration> WEBHOOK_TIMEOUT = add(Setting.time(
            "webhook-timeout-seconds",
            10,
            SECOND,
            new Range(0.1, 300),
            "Time that the receiver of a webhook has for its response."));
    static final Setting<Duration> HEALTH_EVERY = add(Setting.time(
            "health-every-seconds", 30, SECOND, new Range(0.1, 3600), "Interval of the figures `work` in `/health`."));
    static final Setting<Duration> AFTER_RUN = add(Setting.time(
            "after-run-minutes",
            5,
            MINUTE,
            new Range(0, 525_600),
            "Idle timeout of a sandbox that a run created, after the run; 0 keeps the timeout of the sandbox."));
    static final Setting<Integer> MAX_RUNNING_TASKS = add(Setting.integer(
            "max-running-tasks",
            8,
            new Range(0, 10_000),
            "Maximum number of tasks of the queue that the server runs at a time; 0 for no limit."));
    static final Setting<Integer> MAX_RUNNING_TASKS_PER_USER = add(Setting.integer(
            "max-running-tasks-per-user", 0, new Range(0, 10_000), "The same for one user; 0 for no limit."));
    static final Setting<Integer> MAX_RUNNING_TASKS_PER_AGENT_TYPE = add(Setting.integer(
            "max-running-tasks-per-agent-type",
            0,
            new Range(0, 10_000),
            "The same for one `agent_type`; 0 for no limit."));
    static final Setting<Boolean> IDLE_DETECTION = add(Setting.choice(
                    "idle-detection-enabled",
                    "true",
                    List.of("true", "false"),
                    "true"::equals,
                    "Whether the server ends a run whose worker is alive but does no work.")
            .withAlias("IDLE_DETECTION_ENABLED"));
    static final Setting<Duration> IDLE_THRESHOLD = add(Setting.time(
                    "idle-threshold-minutes",
                    30,
                    MINUTE,
                    new Range(0.01, 525_600),
                    "Time without work and without input after which a run is idle.")
            .withAlias("IDLE_THRESHOLD_MINUTES"));
    static final Setting<Duration> IDLE_CHECK = add(Setting.time(
                    "idle-check-interval-seconds",
                    60,
                    SECOND,
                    new Range(0.1, 86_400),
                    "Interval of the check for idle runs.")
            .withAlias("IDLE_CHECK_INTERVAL_SECONDS"));
    static final Setting<Duration> HEARTBEAT = add(Setting.time(
            "heartbeat-seconds",
            15,
            SECOND,
            new Range(0.1, 300),
            "Interval of the heartbeats of a worker. After three missed ones, its task is restarted."));
    static final Setting<Duration> HEARTBEAT_CHECK = add(Setting.time(
            "heartbeat-check-seconds",
            10,
            SECOND,
            new Range(0.1, 300),
            "Interval of the check for missed heartbeats."));
    static final Setting<Integer> MAX_RESTARTS = add(Setting.integer(
            "max-restarts",
            3,
            new Range(0, 100),
            "Maximum number of restarts of a task within 30 minutes, after its worker crashed or stopped responding;"
                    + " 0 for none."));
    static final Setting<Duration> DIAGNOSTIC_INTERVAL = add(Setting.time(
            "diagnostic-interval-seconds",
            60,
            SECOND,
            new Range(0.1, 86_400),
            "Interval of the search for stuck workflows, in which tasks wait and none can start."));
    static final Setting<Optional<Run.Runtime>> DIAGNOSTIC_RUNTIME = add(Setting.choice(
            "diagnostic-runtime",
            "off",
            List.of("off", "claude", "openhands"),
            text -> TextEnum.find(Run.Runtime.class, text),
            "Agent of the diagnostic task that the server starts for a stuck workflow; `off` for none."));
    static final Setting<GuardianPolicy> GUARDIAN = add(Setting.choice(
            "guardian",
            "steer",
            List.of("off", "watch", "steer", "stop"),
            text -> TextEnum.of(GuardianPolicy.class, text),
            "Policy of the guardian for runs without one of their own: `off`, `watch`, `steer` or `stop`; see"
                    + " `docs/explain/guardian.md`."));
    static final Setting<Duration> GUARDIAN_INTERVAL = add(Setting.time(
            "guardian-interval-seconds",
            60,
            SECOND,
            new Range(0.1, 86_400),
            "Interval in which the guardian looks at all active runs."));
    static final Setting<Duration> GUARDIAN_COOLDOWN = add(Setting.time(
            "guardian-cooldown-seconds",
            120,
            SECOND,
            new Range(0.1, 86_400),
            "Minimum time between two actions of the guardian on one run."));
    static final Setting<Integer> GUARDIAN_NUDGES = add(Setting.integer(
            "guardian-max-nudges", 5, new Range(0, 1000), "Maximum number of messages of the guardian to one run."));
    static final Setting<Duration> GUARDIAN_ANSWER = add(Setting.time(
            "guardian-answer-minutes",
            10,
            MINUTE,
            new Range(0.001, 525_600),
            "Time that a user has to answer the guardian before the policy `stop` stops the run."));
    static final Setting<Optional<String>> GUARDIAN_MODEL = add(Setting.text(
            "guardian-model",
            "Model that judges the trajectories of runs, such as `claude-haiku-4-5` or `openai/gpt-5-mini`; none by"
                    + " default."));
    static final Setting<Duration> GUARDIAN_MODEL_TIMEOUT = add(Setting.time(
            "guardian-model-timeout-seconds",
            30,
            SECOND,
            new Range(0.1, 600),
            "Time limit of one judgement of `guardian-model`."));
    static final Setting<Double> GUARDIAN_MODEL_BUDGET = add(Setting.number(
            "guardian-model-budget-usd",
            1,
            new Range(0, MANY),
            "Maximum cost of the judgements of `guardian-model` in one day, in UTC."));
    static final Setting<Duration> CONDUCTOR_INTERVAL = add(Setting.time(
            "conductor-interval-seconds",
            300,
            SECOND,
            new Range(0.1, 86_400),
            "Interval in which the conductor compares the active runs of each user."));
    static final Setting<Duration> TRANSCRIPTS_KEPT = add(Setting.time(
            "transcript-hours",
            720,
            HOUR,
            new Range(0.01, 876_000),
            "Retention of the transcript of an agent after its last change."));
    static final Setting<Integer> TRANSCRIPTS_MB = add(Setting.integer(
            "transcript-total-mb",
            10_240,
            new Range(1, MANY),
            "Maximum size of all transcripts; the server deletes the oldest first."));
    static final Setting<Integer> POOL_SIZE =
            add(Setting.integer("pool-size", 10, new Range(0, 10_000), "Number of started sandboxes in the warm pool.")
                    .withAlias("POOL_SIZE"));
    static final Setting<Integer> MAX_SANDBOXES =
            add(Setting.integer("max-sandboxes", 200, new Range(1, MANY), "Maximum number of sandboxes in use."));
    static final Setting<Integer> MAX_SANDBOXES_PER_USER = add(Setting.integer(
            "max-sandboxes-per-user",
            0,
            new Range(0, MANY),
            "Maximum number of sandboxes of one user that are not hibernated. If it is 0, only `user-share-percent`"
                    + " applies."));
    static final Setting<Integer> USER_SHARE = add(Setting.integer(
            "user-share-percent",
            80,
            new Range(1, 100),
            "Maximum share of `max-sandboxes` of one user, rounded down; the rest is left for other users."));
    static final Setting<Long> MAX_DISK_PER_USER = add(Setting.megabytes(
            "max-disk-mb-per-user",
            204_800,
            new Range(0, 1000 * MANY),
            "Maximum disk of one user: disk sizes of sandboxes and sizes of snapshots; 0 for no limit."));
    static final Setting<Integer> MAX_SNAPSHOTS_PER_USER = add(Setting.integer(
            "max-snapshots-per-user",
            1000,
            new Range(0, MANY),
            "Maximum number of snapshots of one user; 0 for no limit."));
    static final Setting<Integer> MAX_RUNS_PER_USER = add(Setting.integer(
            "max-runs-per-user",
            100,
            new Range(0, MANY),
            "Maximum number of active runs of one user; 0 for no limit."));
    static final Setting<Duration> SESSION_TIMEOUT = add(Setting.time(
                    "session-timeout-minutes",
                    30,
                    MINUTE,
                    new Range(0.01, 525_600),
                    "Default idle timeout of a sandbox.")
            .withAlias("SESSION_TIMEOUT_MINUTES"));
    static final Setting<Duration> MAX_SESSION_TIMEOUT = add(Setting.time(
            "max-session-timeout-minutes",
            1440,
            MINUTE,
            new Range(0.01, 525_600),
            "Maximum `timeout_minutes` of a request."));
    static final Setting<OnIdle> ON_IDLE = add(Setting.choice(
            "on-idle",
            "end",
            List.of("end", "hibernate"),
            text -> TextEnum.of(OnIdle.class, text),
            "Default of `on_idle` of a sandbox. At its idle timeout, `end` ends the sandbox. `hibernate` ends the"
                    + " processes and keeps the disk until the next call. `viv` and the console request `hibernate`."));
    static final Setting<Duration> KEEP_HIBERNATED = add(Setting.time(
            "keep-hibernated-days",
            7,
            Duration.ofDays(1),
            new Range(0.00001, 36_500),
            "Retention of the disk of a hibernated sandbox."));
    static final Setting<Duration> MAX_LIFETIME = add(
            Setting.time("max-lifetime-hours", 24, HOUR, new Range(0.001, 87_600), "Maximum lifetime of a sandbox."));
    static final Setting<Duration> ORPHAN_GRACE = add(Setting.time(
            "orphan-grace",
            3600,
            SECOND,
            new Range(1, 31_536_000),
            "Seconds until a sandbox without a server ends; its files stay."));
    static final Setting<Duration> KEEP_ORPHANS = add(Setting.time(
            "keep-orphans-days",
            7,
            Duration.ofDays(1),
            new Range(0, 36_500),
            "Retention of disks and snapshots in `home/orphans`, which have no row in the store."));
    static final Setting<Integer> MAX_COMMANDS = add(Setting.integer(
            "max-commands-per-sandbox",
            64,
            new Range(1, 10_000),
            "Maximum number of concurrent commands in one sandbox."));
    static final Setting<Long> MAX_BYTES_IN_FLIGHT = add(Setting.megabytes(
            "max-bytes-in-flight-mb",
            0,
            new Range(0, MANY),
            "Maximum memory of unfinished requests; 0 for a quarter of the heap."));
    static final Setting<Long> MEMORY =
            add(Setting.megabytes("memory-mb", 1024, new Range(16, MANY), "Default and maximum memory of a sandbox."));
    static final Setting<Double> CPUS = add(
            Setting.number("cpus", 2, new Range(0.05, 1024), "Default and maximum number of processors of a sandbox."));
    static final Setting<Integer> PROCESSES = add(Setting.integer(
            "processes", 512, new Range(16, MANY), "Default and maximum number of processes of a sandbox."));
    static final Setting<Long> DISK =
            add(Setting.megabytes("disk-mb", 1024, new Range(16, MANY), "Disk size of a sandbox."));
    static final Setting<Long> DISK_LOW_WATER = add(Setting.megabytes(
            "disk-low-water-mb",
            1024,
            new Range(0, 1000 * MANY),
            "Free space of `home` below which the server creates no sandbox and freezes the one that grows most."));
    static final Setting<Double> DISK_OVERCOMMIT = add(Setting.number(
            "disk-overcommit",
            10,
            new Range(0.01, MANY),
            "Maximum possible growth of all disks, as a multiple of the free space of `home`."));
    static final Setting<Long> STORE_RESERVE = add(Setting.megabytes(
            "store-reserve-mb",
            64,
            new Range(0, MANY),
            "Disk space that the SQLite store allocates in advance, so that it can write when the disk is full."));

    static final Setting<Long> MAX_FILE_SIZE =
            add(Setting.megabytes("max-file-size-mb", 100, new Range(1, MANY), "Maximum size of an upload.")
                    .withAlias("MAX_FILE_SIZE_MB"));
    static final Setting<Integer> MAX_FILES = add(Setting.integer(
                    "max-total-files",
                    1000,
                    new Range(1, 100 * MANY),
                    "Maximum number of files in a workspace after an upload.")
            .withAlias("MAX_TOTAL_FILES"));
    static final Setting<Long> MAX_WORKSPACE = add(Setting.megabytes(
                    "max-workspace-size-mb", 500, new Range(1, MANY), "Maximum size of a workspace after an upload.")
            .withAlias("MAX_WORKSPACE_SIZE_MB"));

    static final Setting<Duration> METRICS_EVERY = add(Setting.time(
            "metrics-every-seconds",
            30,
            SECOND,
            new Range(0.1, 86_400),
            "Interval of the event `sandbox.metrics` of a sandbox in use."));
    static final Setting<Boolean> PROCESS_EVENTS = add(Setting.choice(
            "process-events",
            "on",
            List.of("on", "off"),
            "on"::equals,
            "Command events for the processes that a command starts, where the kernel reports them."));

    static final Setting<CommandPolicy.Mode> COMMAND_POLICY = add(Setting.choice(
            "command-policy",
            "open",
            List.of("open", "allowlist"),
            CommandPolicy.Mode::of,
            "Command policy; see `docs/reference/command-policy.md`."));
    static final Setting<Optional<List<String>>> ALLOWED_COMMANDS = add(Setting.lines(
            "allowed-commands",
            "Commands of the mode `allowlist`, one per line, instead of the built-in list. An empty list allows no"
                    + " command."));
    static final Setting<Optional<List<String>>> DENIED_PATTERNS = add(Setting.lines(
            "denied-patterns",
            "Regular expressions that refuse a matching command, one per line, instead of the built-in list."));
    static final Setting<Duration> MAX_COMMAND_TIMEOUT = add(Setting.time(
            "max-command-timeout-seconds", 3600, SECOND, new Range(1, 604_800), "Maximum `timeout` of a command."));

    static final Setting<String> PREVIEW_DOMAIN = add(Setting.text(
            "preview-domain", "localhost", "Domain of previews: port 3000 of a sandbox is at `3000-SANDBOX.DOMAIN`."));
    static final Setting<Duration> PREVIEW_IDLE = add(Setting.time(
            "preview-idle-seconds", 300, SECOND, new Range(1, 86_400), "Idle timeout of a preview connection."));
    static final Setting<Boolean> WAKE_ON_TRAFFIC = add(Setting.choice(
            "wake-on-traffic",
            "on",
            List.of("on", "off"),
            "on"::equals,
            "Whether a request to a paused sandbox or its preview resumes the sandbox; if `off`, the server refuses"
                    + " it."));

    static final Setting<Optional<List<String>>> EGRESS_DEFAULT =
            add(Setting.lines("egress-default", "Default egress list of a sandbox; see `docs/guides/egress.md`."));
    static final Setting<Optional<List<String>>> EGRESS_MOST =
            add(Setting.lines("egress-most", "*:*", "Upper bound of every egress list; `-` allows no host."));
    static final Setting<Optional<List<String>>> EGRESS_PRIVATE = add(
            Setting.lines("egress-private", "Private addresses that sandboxes may connect to, such as `10.1.2.0/24`."));
    static final Setting<Optional<Path>> EGRESS_CREDENTIALS = add(Setting.path(
            "egress-credentials",
            "File with headers that the proxy adds to requests for some hosts; only the server may read it."));
    static final Setting<Optional<Path>> EGRESS_CA = add(
            Setting.path("egress-ca", "PEM file with additional certificate authorities for hosts with credentials."));
    static final Setting<Integer> EGRESS_CONNECTIONS = add(Setting.integer(
            "egress-connections",
            EgressConfig.CONNECTIONS,
            new Range(1, 512),
            "Maximum number of outbound connections of a sandbox; further ones wait."));

    static final Setting<Optional<List<String>>> GIT_PRIVATE =
            add(Setting.lines("git-private", "Private addresses that git remotes may have, such as `10.1.2.0/24`."));
    static final Setting<Duration> GIT_TIMEOUT = add(Setting.time(
            "git-timeout-seconds", 30, SECOND, new Range(0.1, 3600), "Maximum time without data from a git remote."));
    static final Setting<Long> GIT_CACHE = add(Setting.megabytes(
            "git-cache-mb", 4096, new Range(0, MANY), "Maximum size of the mirrors of git repositories; 0 for none."));

    static final Setting<URI> MODEL_URL = add(Setting.url(
            "model-url",
            "https://api.anthropic.com",
            "Upstream for requests of the Anthropic API; see `docs/guides/model-gateway.md`."));
    static final Setting<Optional<String>> MODEL_KEY =
            add(Setting.text("model-key", "API key for `model-url`. It does not enter a sandbox.")
                    .withAlias("ANTHROPIC_API_KEY"));
    static final Setting<Optional<Path>> MODEL_KEY_FILE =
            add(Setting.path("model-key-file", "File with `model-key`; only the server may read it."));
    static final Setting<URI> OPENAI_URL = add(Setting.url(
            "openai-url",
            "https://api.openai.com",
            "Upstream for requests of the OpenAI API, or of a compatible one."));
    static final Setting<Optional<String>> OPENAI_KEY =
            add(Setting.text("openai-key", "API key for `openai-url`. It does not enter a sandbox.")
                    .withAlias("OPENAI_API_KEY"));
    static final Setting<Optional<Path>> OPENAI_KEY_FILE =
            add(Setting.path("openai-key-file", "File with `openai-key`; only the server may read it."));
    static final Setting<Duration> MODEL_TIMEOUT = add(Setting.time(
            "model-timeout-seconds", 600, SECOND, new Range(0.1, 3600), "Maximum time without data from a model."));
    static final Setting<Optional<Path>> MODEL_PRICES = add(Setting.path(
            "model-prices",
            "Price table of models, which overrides the built-in one; see `docs/guides/model-gateway.md`."));

    /// The default is well above the keep-alive interval of streams. Otherwise, the server would close idle
    /// streams.
    static final Setting<Duration> IDLE_CONNECTION = add(
            Setting.time("idle-connection-seconds", 60, SECOND, new Range(10, 3600), "Idle timeout of a connection."));
    static final Setting<Integer> MAX_CONNECTIONS_PER_ADDRESS = add(Setting.integer(
            "max-connections-per-address",
            1024,
            new Range(1, MANY),
            "Maximum number of connections per client address; raise it behind a reverse proxy."));
    static final Setting<Integer> MAX_REQUESTS = add(Setting.integer(
            "max-requests-per-principal",
            512,
            new Range(1, MANY),
            "Maximum number of concurrent requests of one principal. The limit for streams and long polls is four times"
                    + " as high."));
    static final Setting<Duration> FAILURE_DELAY = add(Setting.time(
            "auth-failure-delay-seconds",
            5,
            SECOND,
            new Range(0, 60),
            "Maximum delay of the response to an invalid credential; it grows with the failures of an address."));
    static final Setting<Duration> STOP_GRACE = add(Setting.time(
            "stop-grace-seconds", 30, SECOND, new Range(0, 3600), "Time that running requests have after SIGTERM."));
    static final Setting<LogConfig.Format> LOG_FORMAT = add(Setting.choice(
            "log-format",
            "text",
            List.of("text", "json"),
            text -> LogConfig.Format.valueOf(text.toUpperCase(Locale.ROOT)),
            "Format of the log on standard error, `text` or `json`."));
    static final Setting<Duration> LOG_KEEP = add(Setting.time(
            "log-keep-days",
            7,
            Duration.ofDays(1),
            new Range(0.001, 36_500),
            "Retention of the events of a sandbox, and of the row of an ended sandbox."));
    static final Setting<Long> LOG_KEEP_SIZE = add(Setting.megabytes(
            "log-keep-mb",
            64,
            new Range(1, MANY),
            "Maximum size of the events of one sandbox; the server deletes the oldest first."));
    static final Setting<String> WORKER_ID =
            add(Setting.text("worker-id", "worker1", "Name of this server in `/health`.")
                    .withAlias("WORKER_ID"));
    static final Setting<Boolean> RATE_LIMITS = add(Setting.choice(
            "rate-limits",
            "on",
            List.of("on", "off"),
            "on"::equals,
            "Rate limits of workers; see `docs/reference/http-api.md`."));
    static final Setting<Integer> RATE_EVENTS = rate("rate-events", 100, "Event requests of a worker");
    /// The maximum is one byte per nanosecond, the limit of the token bucket.
    static final Setting<Long> RATE_EVENT_MB = add(Setting.megabytes(
            "rate-event-mb", 20, new Range(1, 50_000), "Events of a worker per minute, in MB; at most 50000."));
    static final Setting<Integer> RATE_HEARTBEATS = rate("rate-heartbeats", 10, "Heartbeats of a worker");
    static final Setting<Integer> RATE_MESSAGES = rate("rate-messages", 30, "Message polls of a worker");
    static final Setting<Integer> RATE_MODELS = rate("rate-models", 300, "Model requests of an agent");
    static final Setting<Integer> RATE_OTHERS = rate("rate-others", 60, "Other requests of a worker");
    static final Setting<Optional<String>> REDIS_HOST =
            add(Setting.text("redis-host", "Reserved: this version runs on one machine and logs a warning.")
                    .withAlias("REDIS_HOST"));
    static final Setting<Integer> REDIS_PORT =
            add(Setting.integer("redis-port", 6379, new Range(1, 65_535), "Reserved, like `redis-host`.")
                    .withAlias("REDIS_PORT"));

    /// In the order of the declarations and of the reference page.
    public static final List<Setting<?>> ALL = List.copyOf(DECLARED);

    private Catalogue() {}

    private static Setting<Integer> rate(String key, int standard, String meaning) {
        return add(Setting.integer(key, standard, new Range(1, MANY), meaning + " per minute."));
    }

    private static <T> Setting<T> add(Setting<T> setting) {
        DECLARED.add(setting);
        return setting;
    }
}
