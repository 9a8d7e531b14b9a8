package dev.vivarium.server.settings;

import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.access.Tokens;
import dev.vivarium.core.egress.EgressConfig;
import dev.vivarium.core.store.PostgresAddress;
import dev.vivarium.policy.CommandPolicy;
import dev.vivarium.server.settings.EngineConfig.ProviderKind;
import dev.vivarium.server.settings.Setting.Range;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/// Catalogue of all settings of the server. Stateless.
///
/// To add a setting:
///
/// 1. Declare it here and name it in [#ALL].
/// 2. Read it in the record of its concern.
/// 3. Add its row to `docs/reference/configuration.md`, which a test compares with this list.
///
/// Add a setting only if a known user needs it.
public final class Catalogue {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final double MANY = 1_000_000;

    static final Setting<String> HOST =
            Setting.text("host", "", "127.0.0.1", "Listen address; `0.0.0.0` for all interfaces.");
    static final Setting<Integer> PORT =
            Setting.integer("port", "PORT", 8000, new Range(0, 65_535), "Listen port; 0 for a free port.");
    static final Setting<Optional<Path>> HOME =
            Setting.path("home", "Data directory of the server; `~/.vivarium` by default.");
    static final Setting<Optional<Path>> CONFIG = Setting.path(
            "config", "Configuration file; by default `vivarium.yaml` in the working directory or in `home`.");
    static final Setting<Optional<PostgresAddress>> STORE = Setting.postgres(
            "store",
            "PostgreSQL database, `postgresql://user:password@host:5432/vivarium`; SQLite in `home` by default.");
    static final Setting<Optional<String>> API_KEY = Setting.text(
            "api-key", "", "API key of the admin; by default, the first start writes one to `home/credentials`.");

    static final Setting<Optional<URI>> PUBLIC_URL = Setting.url(
            "public-url",
            "URL of the server for clients, such as `https://viv.example.com`; by default, the host of the request.");
    static final Setting<Tokens.Mode> TOKEN_MODE = Setting.choice(
            "token-mode",
            "jwt",
            List.of("jwt", "opaque"),
            text -> Tokens.Mode.valueOf(text.toUpperCase(Locale.ROOT)),
            "Format of capability tokens: `jwt` (signed claims) or `opaque` (random number).");
    static final Setting<Scopes> TOKEN_SCOPES = Setting.scopes(
            "token-scopes",
            "fs:rw shell process snapshot",
            "Maximum scopes of every caller on the routes of a sandbox, separated by spaces.");
    static final Setting<Duration> THREAD_LEASE = Setting.time(
            "thread-lease-minutes",
            "",
            60,
            MINUTE,
            new Range(0.01, 525_600),
            "Idle timeout of a sandbox from `POST /threads/{thread_id}/sandbox`.");
    static final Setting<Integer> AUDIT_ENTRIES = Setting.integer(
            "audit-entries", "", 1_000_000, new Range(1000, 100 * MANY), "Maximum number of audit log entries.");

    static final Setting<ProviderKind> PROVIDER = Setting.choice(
            "provider",
            "oci",
            List.of("oci", "process", "docker", "kubernetes"),
            ProviderKind::of,
            "Isolation of sandboxes: `oci`, or `process`, which has no isolation and is for tests and laptops.");
    static final Setting<String> RUNTIME = Setting.choice(
            "runtime",
            "native",
            List.of("native", "crun", "runc", "runsc"),
            text -> text,
            "Runtime of an `oci` sandbox: `native` (fastest), `crun`, `runc`, or `runsc` (gVisor, for untrusted"
                    + " tenants).");
    static final Setting<String> IMAGE =
            Setting.text("image", "", "host", "Root file system of sandboxes; see `viv image list`.");
    static final Setting<String> WORKER_IMAGE = Setting.text(
            "worker-image",
            "",
            "worker",
            "Root file system of sandboxes with a `claude` or `openhands` agent; `viv image build worker` creates it.");
    static final Setting<Duration> REVIEW_TIMEOUT = Setting.time(
            "review-timeout-minutes",
            "",
            1440,
            MINUTE,
            new Range(0.01, 525_600),
            "Timeout of a review, a question of an agent to a user.");
    static final Setting<Duration> TRANSCRIPTS_KEPT = Setting.time(
            "transcript-hours",
            "",
            720,
            HOUR,
            new Range(0.01, 876_000),
            "Retention of the transcript of an agent after its last change.");
    static final Setting<Integer> TRANSCRIPTS_MB = Setting.integer(
            "transcript-total-mb",
            "",
            10_240,
            new Range(1, MANY),
            "Maximum size of all transcripts; the server deletes the oldest first.");
    static final Setting<Integer> POOL_SIZE = Setting.integer(
            "pool-size", "POOL_SIZE", 10, new Range(0, 10_000), "Number of started sandboxes in the warm pool.");
    static final Setting<Integer> MAX_SANDBOXES =
            Setting.integer("max-sandboxes", "", 200, new Range(1, MANY), "Maximum number of sandboxes in use.");
    static final Setting<Duration> SESSION_TIMEOUT = Setting.time(
            "session-timeout-minutes",
            "SESSION_TIMEOUT_MINUTES",
            30,
            MINUTE,
            new Range(0.01, 525_600),
            "Default idle timeout of a sandbox.");
    static final Setting<Duration> MAX_SESSION_TIMEOUT = Setting.time(
            "max-session-timeout-minutes",
            "",
            1440,
            MINUTE,
            new Range(0.01, 525_600),
            "Maximum `timeout_minutes` of a request.");
    static final Setting<Duration> MAX_LIFETIME = Setting.time(
            "max-lifetime-hours", "", 24, HOUR, new Range(0.001, 87_600), "Maximum lifetime of a sandbox.");
    static final Setting<Duration> ORPHAN_GRACE = Setting.time(
            "orphan-grace",
            "",
            3600,
            SECOND,
            new Range(1, 31_536_000),
            "Seconds until a sandbox without a server ends; its files stay.");
    static final Setting<Duration> KEEP_ORPHANS = Setting.time(
            "keep-orphans-days",
            "",
            7,
            Duration.ofDays(1),
            new Range(0, 36_500),
            "Retention of disks and snapshots in `home/orphans`, which have no row in the store.");
    static final Setting<Integer> MAX_COMMANDS = Setting.integer(
            "max-commands-per-sandbox",
            "",
            64,
            new Range(1, 10_000),
            "Maximum number of concurrent commands in one sandbox.");
    static final Setting<Long> MAX_BYTES_IN_FLIGHT = Setting.megabytes(
            "max-bytes-in-flight-mb",
            "",
            0,
            new Range(0, MANY),
            "Maximum memory of unfinished requests; 0 for a quarter of the heap.");
    static final Setting<Long> MEMORY =
            Setting.megabytes("memory-mb", "", 1024, new Range(16, MANY), "Default and maximum memory of a sandbox.");
    static final Setting<Double> CPUS =
            Setting.number("cpus", 2, new Range(0.05, 1024), "Default and maximum number of processors of a sandbox.");
    static final Setting<Integer> PROCESSES = Setting.integer(
            "processes", "", 512, new Range(16, MANY), "Default and maximum number of processes of a sandbox.");
    static final Setting<Long> DISK =
            Setting.megabytes("disk-mb", "", 1024, new Range(16, MANY), "Disk size of a sandbox.");

    static final Setting<Long> MAX_FILE_SIZE = Setting.megabytes(
            "max-file-size-mb", "MAX_FILE_SIZE_MB", 100, new Range(1, MANY), "Maximum size of an upload.");
    static final Setting<Integer> MAX_FILES = Setting.integer(
            "max-total-files",
            "MAX_TOTAL_FILES",
            1000,
            new Range(1, 100 * MANY),
            "Maximum number of files in a workspace for an upload.");
    static final Setting<Long> MAX_WORKSPACE = Setting.megabytes(
            "max-workspace-size-mb",
            "MAX_WORKSPACE_SIZE_MB",
            500,
            new Range(1, MANY),
            "Maximum size of a workspace after an upload.");

    static final Setting<Duration> METRICS_EVERY = Setting.time(
            "metrics-every-seconds",
            "",
            30,
            SECOND,
            new Range(0.1, 86_400),
            "Interval of the event `sandbox.metrics` of a sandbox in use.");

    static final Setting<CommandPolicy.Mode> COMMAND_POLICY = Setting.choice(
            "command-policy",
            "open",
            List.of("open", "allowlist"),
            CommandPolicy.Mode::of,
            "Command policy; see `docs/reference/command-policy.md`.");
    static final Setting<Optional<List<String>>> ALLOWED_COMMANDS = Setting.lines(
            "allowed-commands",
            "Commands of the mode `allowlist`, one per line, instead of the built-in list. An empty list allows no command.");
    static final Setting<Optional<List<String>>> DENIED_PATTERNS = Setting.lines(
            "denied-patterns",
            "Regular expressions that refuse a matching command, one per line, instead of the built-in list.");
    static final Setting<Duration> MAX_COMMAND_TIMEOUT = Setting.time(
            "max-command-timeout-seconds", "", 3600, SECOND, new Range(1, 604_800), "Maximum `timeout` of a command.");

    static final Setting<String> PREVIEW_DOMAIN = Setting.text(
            "preview-domain",
            "",
            "localhost",
            "Domain of previews: port 3000 of a sandbox is at `3000-SANDBOX.DOMAIN`.");
    static final Setting<Duration> PREVIEW_IDLE = Setting.time(
            "preview-idle-seconds", "", 300, SECOND, new Range(1, 86_400), "Idle timeout of a preview connection.");
    static final Setting<Boolean> WAKE_ON_TRAFFIC = Setting.choice(
            "wake-on-traffic",
            "on",
            List.of("on", "off"),
            "on"::equals,
            "Whether a request to a paused sandbox or its preview resumes the sandbox; if `off`, the server refuses it.");

    static final Setting<Optional<List<String>>> EGRESS_DEFAULT =
            Setting.lines("egress-default", "Default egress list of a sandbox; see `docs/guides/egress.md`.");
    static final Setting<Optional<List<String>>> EGRESS_MOST =
            Setting.lines("egress-most", "*:*", "Maximum egress list of a request; `-` for none.");
    static final Setting<Optional<List<String>>> EGRESS_PRIVATE =
            Setting.lines("egress-private", "Private addresses that sandboxes may connect to, such as `10.1.2.0/24`.");
    static final Setting<Optional<Path>> EGRESS_CREDENTIALS = Setting.path(
            "egress-credentials",
            "File with headers that the proxy adds to requests for some hosts; only the server may read it.");
    static final Setting<Optional<Path>> EGRESS_CA =
            Setting.path("egress-ca", "PEM file with additional certificate authorities for hosts with credentials.");
    static final Setting<Integer> EGRESS_CONNECTIONS = Setting.integer(
            "egress-connections",
            "",
            EgressConfig.CONNECTIONS,
            new Range(1, 512),
            "Maximum number of outbound connections of a sandbox; further ones wait.");

    static final Setting<URI> MODEL_URL = Setting.url(
            "model-url",
            "https://api.anthropic.com",
            "Upstream for requests of the Anthropic API; see `docs/guides/model-gateway.md`.");
    static final Setting<Optional<String>> MODEL_KEY =
            Setting.text("model-key", "ANTHROPIC_API_KEY", "API key for `model-url`. It does not enter a sandbox.");
    static final Setting<Optional<Path>> MODEL_KEY_FILE =
            Setting.path("model-key-file", "File with `model-key`; only the server may read it.");
    static final Setting<URI> OPENAI_URL = Setting.url(
            "openai-url", "https://api.openai.com", "Upstream for requests of the OpenAI API, or of a compatible one.");
    static final Setting<Optional<String>> OPENAI_KEY =
            Setting.text("openai-key", "OPENAI_API_KEY", "API key for `openai-url`. It does not enter a sandbox.");
    static final Setting<Optional<Path>> OPENAI_KEY_FILE =
            Setting.path("openai-key-file", "File with `openai-key`; only the server may read it.");
    static final Setting<Duration> MODEL_TIMEOUT = Setting.time(
            "model-timeout-seconds", "", 600, SECOND, new Range(0.1, 3600), "Maximum time without data from a model.");
    static final Setting<Optional<Path>> MODEL_PRICES = Setting.path(
            "model-prices",
            "Price table of models, which overrides the built-in one; see `docs/guides/model-gateway.md`.");

    /// The default is well above the keep-alive interval of streams. Otherwise, the server would close idle
    /// streams.
    static final Setting<Duration> IDLE_CONNECTION = Setting.time(
            "idle-connection-seconds", "", 60, SECOND, new Range(10, 3600), "Idle timeout of a connection.");
    static final Setting<Duration> STOP_GRACE = Setting.time(
            "stop-grace-seconds", "", 30, SECOND, new Range(0, 3600), "Time that running requests have after SIGTERM.");
    static final Setting<LogConfig.Format> LOG_FORMAT = Setting.choice(
            "log-format",
            "text",
            List.of("text", "json"),
            text -> LogConfig.Format.valueOf(text.toUpperCase(Locale.ROOT)),
            "Format of the log on standard error, `text` or `json`.");
    static final Setting<Duration> LOG_KEEP = Setting.time(
            "log-keep-days",
            "",
            7,
            Duration.ofDays(1),
            new Range(0.001, 36_500),
            "Retention of the events of a sandbox, and of the row of an ended sandbox.");
    static final Setting<Long> LOG_KEEP_SIZE = Setting.megabytes(
            "log-keep-mb",
            "",
            64,
            new Range(1, MANY),
            "Maximum size of the events of one sandbox; the server deletes the oldest first.");
    static final Setting<String> WORKER_ID =
            Setting.text("worker-id", "WORKER_ID", "worker1", "Name of this server in `/health`.");
    static final Setting<Boolean> RATE_LIMITS = Setting.choice(
            "rate-limits",
            "on",
            List.of("on", "off"),
            "on"::equals,
            "Rate limits of workers; see `docs/reference/http-api.md`.");
    static final Setting<Integer> RATE_EVENTS = rate("rate-events", 100, "Event requests of a worker");
    /// The maximum is one byte per nanosecond, the limit of the token bucket.
    static final Setting<Integer> RATE_EVENT_MB = Setting.integer(
            "rate-event-mb", "", 20, new Range(1, 50_000), "Events of a worker per minute, in MB; at most 50000.");
    static final Setting<Integer> RATE_HEARTBEATS = rate("rate-heartbeats", 10, "Heartbeats of a worker");
    static final Setting<Integer> RATE_MESSAGES = rate("rate-messages", 30, "Message polls of a worker");
    static final Setting<Integer> RATE_MODELS = rate("rate-models", 300, "Model requests of an agent");
    static final Setting<Integer> RATE_OTHERS = rate("rate-others", 60, "Other requests of a worker");
    static final Setting<Optional<String>> REDIS_HOST =
            Setting.text("redis-host", "REDIS_HOST", "Reserved: this version runs on one machine and logs a warning.");
    static final Setting<Integer> REDIS_PORT =
            Setting.integer("redis-port", "REDIS_PORT", 6379, new Range(1, 65_535), "Reserved, like `redis-host`.");

    /// In the order of the reference page.
    public static final List<Setting<?>> ALL = List.of(
            HOST,
            PORT,
            HOME,
            CONFIG,
            STORE,
            API_KEY,
            PUBLIC_URL,
            TOKEN_MODE,
            TOKEN_SCOPES,
            THREAD_LEASE,
            AUDIT_ENTRIES,
            PROVIDER,
            RUNTIME,
            IMAGE,
            WORKER_IMAGE,
            REVIEW_TIMEOUT,
            TRANSCRIPTS_KEPT,
            TRANSCRIPTS_MB,
            POOL_SIZE,
            MAX_SANDBOXES,
            SESSION_TIMEOUT,
            MAX_SESSION_TIMEOUT,
            MAX_LIFETIME,
            ORPHAN_GRACE,
            KEEP_ORPHANS,
            MAX_COMMANDS,
            MAX_BYTES_IN_FLIGHT,
            MEMORY,
            CPUS,
            PROCESSES,
            DISK,
            DiskConfig.LOW_WATER,
            DiskConfig.OVERCOMMIT,
            DiskConfig.STORE_RESERVE,
            MAX_FILE_SIZE,
            MAX_FILES,
            MAX_WORKSPACE,
            METRICS_EVERY,
            COMMAND_POLICY,
            ALLOWED_COMMANDS,
            DENIED_PATTERNS,
            MAX_COMMAND_TIMEOUT,
            PREVIEW_DOMAIN,
            PREVIEW_IDLE,
            WAKE_ON_TRAFFIC,
            EGRESS_DEFAULT,
            EGRESS_MOST,
            EGRESS_PRIVATE,
            EGRESS_CREDENTIALS,
            EGRESS_CA,
            EGRESS_CONNECTIONS,
            MODEL_URL,
            MODEL_KEY,
            MODEL_KEY_FILE,
            OPENAI_URL,
            OPENAI_KEY,
            OPENAI_KEY_FILE,
            MODEL_TIMEOUT,
            MODEL_PRICES,
            IDLE_CONNECTION,
            HttpConfig.MAX_CONNECTIONS_PER_ADDRESS,
            HttpConfig.MAX_REQUESTS,
            STOP_GRACE,
            LOG_FORMAT,
            LOG_KEEP,
            LOG_KEEP_SIZE,
            WORKER_ID,
            RATE_LIMITS,
            RATE_EVENTS,
            RATE_EVENT_MB,
            RATE_HEARTBEATS,
            RATE_MESSAGES,
            RATE_MODELS,
            RATE_OTHERS,
            REDIS_HOST,
            REDIS_PORT);

    private Catalogue() {}

    private static Setting<Integer> rate(String key, int standard, String meaning) {
        return Setting.integer(key, "", standard, new Range(1, MANY), meaning + " per minute.");
    }
}
