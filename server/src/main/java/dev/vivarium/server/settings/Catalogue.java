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

/// All settings of the server.
///
/// To add one: 1. declare it here and name it in [#ALL]; 2. read it in the record of its concern; 3. add its row to
/// `docs/reference/configuration.md`, which a test compares with this list. An option must name the user who needs it.
public final class Catalogue {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final double MANY = 1_000_000;

    static final Setting<String> HOST =
            Setting.text("host", "", "127.0.0.1", "The address to listen on; `0.0.0.0` for every interface.");
    static final Setting<Integer> PORT = Setting.integer(
            "port", "PORT", 8000, new Range(0, 65_535), "The port to listen on; 0 lets the kernel choose one.");
    static final Setting<Optional<Path>> HOME =
            Setting.path("home", "The directory for everything the server keeps; `~/.vivarium` when not given.");
    static final Setting<Optional<Path>> CONFIG = Setting.path(
            "config", "The YAML file to read; else `vivarium.yaml` in the working directory or in `home`.");
    static final Setting<Optional<PostgresAddress>> STORE = Setting.postgres(
            "store",
            "A database of PostgreSQL, `postgresql://user:password@host:5432/vivarium`; else SQLite in `home`.");
    static final Setting<Optional<String>> API_KEY =
            Setting.text("api-key", "", "The admin's API key; else the first start writes one to `home/credentials`.");

    static final Setting<Optional<URI>> PUBLIC_URL = Setting.url(
            "public-url",
            "Where clients reach the server, such as `https://viv.example.com`; else what their request says.");
    static final Setting<Tokens.Mode> TOKEN_MODE = Setting.choice(
            "token-mode",
            "jwt",
            List.of("jwt", "opaque"),
            text -> Tokens.Mode.valueOf(text.toUpperCase(Locale.ROOT)),
            "What a capability token is: `jwt`, a signed statement, or `opaque`, a random number.");
    static final Setting<Scopes> TOKEN_SCOPES = Setting.scopes(
            "token-scopes",
            "fs:rw shell process snapshot",
            "The most that anybody may do to a sandbox by its own routes, with spaces between.");
    static final Setting<Duration> THREAD_LEASE = Setting.time(
            "thread-lease-minutes",
            "",
            60,
            MINUTE,
            new Range(0.01, 525_600),
            "How long an unused sandbox lives that was made by `POST /threads/{thread_id}/sandbox`.");
    static final Setting<Integer> AUDIT_ENTRIES = Setting.integer(
            "audit-entries", "", 1_000_000, new Range(1000, 100 * MANY), "How many entries of the audit are kept.");

    static final Setting<ProviderKind> PROVIDER = Setting.choice(
            "provider",
            "oci",
            List.of("oci", "process", "docker", "kubernetes"),
            ProviderKind::of,
            "What isolates sandboxes: `oci`, or `process`, which isolates nothing and is for tests and laptops.");
    static final Setting<String> RUNTIME = Setting.choice(
            "runtime",
            "native",
            List.of("native", "crun", "runc", "runsc"),
            text -> text,
            "What starts an `oci` sandbox: `native`, the fastest; an OCI runtime; or `runsc`, gVisor, for untrusted"
                    + " tenants.");
    static final Setting<String> IMAGE =
            Setting.text("image", "", "host", "The root file system of sandboxes; see `viv image list`.");
    static final Setting<String> WORKER_IMAGE = Setting.text(
            "worker-image",
            "",
            "worker",
            "The root file system of sandboxes with a `claude` or `openhands` agent; `viv image build worker` makes it.");
    static final Setting<Duration> REVIEW_TIMEOUT = Setting.time(
            "review-timeout-minutes",
            "",
            1440,
            MINUTE,
            new Range(0.01, 525_600),
            "How long an agent's question to a person may stay without an answer.");
    static final Setting<Duration> TRANSCRIPTS_KEPT = Setting.time(
            "transcript-hours",
            "",
            720,
            HOUR,
            new Range(0.01, 876_000),
            "How long the conversation of an agent is kept after it last grew.");
    static final Setting<Integer> TRANSCRIPTS_MB = Setting.integer(
            "transcript-total-mb",
            "",
            10_240,
            new Range(1, MANY),
            "How much room the conversations of agents may take together; the oldest go first.");
    static final Setting<Integer> POOL_SIZE =
            Setting.integer("pool-size", "POOL_SIZE", 10, new Range(0, 10_000), "How many sandboxes are kept warm.");
    static final Setting<Integer> MAX_SANDBOXES =
            Setting.integer("max-sandboxes", "", 200, new Range(1, MANY), "How many sandboxes may be in use at once.");
    static final Setting<Duration> SESSION_TIMEOUT = Setting.time(
            "session-timeout-minutes",
            "SESSION_TIMEOUT_MINUTES",
            30,
            MINUTE,
            new Range(0.01, 525_600),
            "How long an unused sandbox lives when its request does not say.");
    static final Setting<Duration> MAX_SESSION_TIMEOUT = Setting.time(
            "max-session-timeout-minutes",
            "",
            1440,
            MINUTE,
            new Range(0.01, 525_600),
            "The longest `timeout_minutes` that a request may ask for.");
    static final Setting<Duration> MAX_LIFETIME = Setting.time(
            "max-lifetime-hours",
            "",
            24,
            HOUR,
            new Range(0.001, 87_600),
            "How long any sandbox lives at most, used or not.");
    static final Setting<Duration> ORPHAN_GRACE = Setting.time(
            "orphan-grace",
            "",
            3600,
            SECOND,
            new Range(1, 31_536_000),
            "Seconds that sandboxes go on without a server; then they end and keep their files.");
    static final Setting<Duration> KEEP_ORPHANS = Setting.time(
            "keep-orphans-days",
            "",
            7,
            Duration.ofDays(1),
            new Range(0, 36_500),
            "How long disks and snapshots that the store has no rows of are kept in `home/orphans`.");
    static final Setting<Integer> MAX_COMMANDS = Setting.integer(
            "max-commands-per-sandbox", "", 64, new Range(1, 10_000), "How many commands may run in one at once.");
    static final Setting<Long> MAX_BYTES_IN_FLIGHT = Setting.megabytes(
            "max-bytes-in-flight-mb",
            "",
            0,
            new Range(0, MANY),
            "How much memory unfinished requests may hold; 0 for a quarter of the heap.");
    static final Setting<Long> MEMORY = Setting.megabytes(
            "memory-mb", "", 1024, new Range(16, MANY), "The memory of a sandbox, and the most a request may ask for.");
    static final Setting<Double> CPUS = Setting.number(
            "cpus", 2, new Range(0.05, 1024), "The processors of a sandbox, and the most a request may ask for.");
    static final Setting<Integer> PROCESSES = Setting.integer(
            "processes",
            "",
            512,
            new Range(16, MANY),
            "The processes of a sandbox, and the most a request may ask for.");
    static final Setting<Long> DISK =
            Setting.megabytes("disk-mb", "", 1024, new Range(16, MANY), "The disk of a sandbox.");

    static final Setting<Long> MAX_FILE_SIZE = Setting.megabytes(
            "max-file-size-mb", "MAX_FILE_SIZE_MB", 100, new Range(1, MANY), "The largest file that may be uploaded.");
    static final Setting<Integer> MAX_FILES = Setting.integer(
            "max-total-files",
            "MAX_TOTAL_FILES",
            1000,
            new Range(1, 100 * MANY),
            "How many files a workspace may hold for an upload to be taken.");
    static final Setting<Long> MAX_WORKSPACE = Setting.megabytes(
            "max-workspace-size-mb",
            "MAX_WORKSPACE_SIZE_MB",
            500,
            new Range(1, MANY),
            "How large a workspace may become by an upload.");

    static final Setting<Duration> METRICS_EVERY = Setting.time(
            "metrics-every-seconds",
            "",
            30,
            SECOND,
            new Range(0.1, 86_400),
            "How often `sandbox.metrics` says what a sandbox uses that is in use.");

    static final Setting<CommandPolicy.Mode> COMMAND_POLICY = Setting.choice(
            "command-policy",
            "open",
            List.of("open", "allowlist"),
            CommandPolicy.Mode::of,
            "Which command lines may run; see `docs/reference/command-policy.md`.");
    static final Setting<Optional<List<String>>> ALLOWED_COMMANDS = Setting.lines(
            "allowed-commands",
            "The commands of `allowlist`, one a line, instead of the built-in list. Empty: no command may run.");
    static final Setting<Optional<List<String>>> DENIED_PATTERNS = Setting.lines(
            "denied-patterns", "Regular expressions that no command may contain, one a line, instead of the built-in.");
    static final Setting<Duration> MAX_COMMAND_TIMEOUT = Setting.time(
            "max-command-timeout-seconds",
            "",
            3600,
            SECOND,
            new Range(1, 604_800),
            "The longest `timeout` that a command may ask for.");

    static final Setting<String> PREVIEW_DOMAIN = Setting.text(
            "preview-domain",
            "",
            "localhost",
            "The domain of previews: port 3000 of a sandbox is at `3000-SANDBOX.DOMAIN`.");
    static final Setting<Duration> PREVIEW_IDLE = Setting.time(
            "preview-idle-seconds",
            "",
            300,
            SECOND,
            new Range(1, 86_400),
            "How long a preview's program and its caller may both be silent.");
    static final Setting<Boolean> WAKE_ON_TRAFFIC = Setting.choice(
            "wake-on-traffic",
            "on",
            List.of("on", "off"),
            "on"::equals,
            "Whether a call to a paused sandbox, to a preview too, resumes it; when `off`, it is refused until somebody does.");

    static final Setting<Optional<List<String>>> EGRESS_DEFAULT = Setting.lines(
            "egress-default",
            "The hosts that a sandbox may reach whose request does not say; see `docs/guides/egress.md`.");
    static final Setting<Optional<List<String>>> EGRESS_MOST =
            Setting.lines("egress-most", "*:*", "The hosts that a request may ask for at most; `-` for none.");
    static final Setting<Optional<List<String>>> EGRESS_PRIVATE = Setting.lines(
            "egress-private", "Addresses that are not public, such as `10.1.2.0/24`, and may be reached all the same.");
    static final Setting<Optional<Path>> EGRESS_CREDENTIALS = Setting.path(
            "egress-credentials",
            "A file, readable by the server alone, of headers to add to requests for some hosts.");
    static final Setting<Optional<Path>> EGRESS_CA = Setting.path(
            "egress-ca", "A PEM file of authorities to trust, besides the usual ones, where a credential is added.");
    static final Setting<Integer> EGRESS_CONNECTIONS = Setting.integer(
            "egress-connections",
            "",
            EgressConfig.CONNECTIONS,
            new Range(1, 512),
            "How many connections outwards a sandbox may have at once; the next ones wait.");

    static final Setting<URI> MODEL_URL = Setting.url(
            "model-url",
            "https://api.anthropic.com",
            "Where agents' questions in Anthropic's dialect go; see `docs/guides/model-gateway.md`.");
    static final Setting<Optional<String>> MODEL_KEY = Setting.text(
            "model-key", "ANTHROPIC_API_KEY", "The key for `model-url`. It stays on the host; no sandbox sees it.");
    static final Setting<Optional<Path>> MODEL_KEY_FILE =
            Setting.path("model-key-file", "A file, readable by the server alone, that holds `model-key`.");
    static final Setting<URI> OPENAI_URL = Setting.url(
            "openai-url",
            "https://api.openai.com",
            "Where agents' questions in OpenAI's dialect go; anything that speaks it will do.");
    static final Setting<Optional<String>> OPENAI_KEY =
            Setting.text("openai-key", "OPENAI_API_KEY", "The key for `openai-url`, as `model-key`.");
    static final Setting<Optional<Path>> OPENAI_KEY_FILE =
            Setting.path("openai-key-file", "A file, readable by the server alone, that holds `openai-key`.");
    static final Setting<Duration> MODEL_TIMEOUT = Setting.time(
            "model-timeout-seconds", "", 600, SECOND, new Range(0.1, 3600), "How long a model may be silent.");
    static final Setting<Optional<Path>> MODEL_PRICES = Setting.path(
            "model-prices",
            "A table of what models cost, before the built-in one; see `docs/guides/model-gateway.md`.");

    /// The default is well above the keep-alive interval of streams. Otherwise, the server would close idle
    /// streams.
    static final Setting<Duration> IDLE_CONNECTION = Setting.time(
            "idle-connection-seconds",
            "",
            60,
            SECOND,
            new Range(10, 3600),
            "After how long without a byte a connection is closed.");
    static final Setting<Duration> STOP_GRACE = Setting.time(
            "stop-grace-seconds",
            "",
            30,
            SECOND,
            new Range(0, 3600),
            "How long running requests may go on after SIGTERM.");
    static final Setting<LogConfig.Format> LOG_FORMAT = Setting.choice(
            "log-format",
            "text",
            List.of("text", "json"),
            text -> LogConfig.Format.valueOf(text.toUpperCase(Locale.ROOT)),
            "How the log on standard error looks.");
    static final Setting<Duration> LOG_KEEP = Setting.time(
            "log-keep-days",
            "",
            7,
            Duration.ofDays(1),
            new Range(0.001, 36_500),
            "How long the events of a sandbox are kept, and how long an ended one is remembered.");
    static final Setting<Long> LOG_KEEP_SIZE = Setting.megabytes(
            "log-keep-mb",
            "",
            64,
            new Range(1, MANY),
            "How much of the events of one sandbox is kept, the newest first.");
    static final Setting<String> WORKER_ID =
            Setting.text("worker-id", "WORKER_ID", "worker1", "The name of this server in `/health`.");
    static final Setting<Boolean> RATE_LIMITS = Setting.choice(
            "rate-limits",
            "on",
            List.of("on", "off"),
            "on"::equals,
            "Whether the workers in sandboxes may call only so often; see `docs/reference/http-api.md`.");
    static final Setting<Integer> RATE_EVENTS = rate("rate-events", 100, "How often a worker may send events");
    /// The maximum is one byte per nanosecond, the limit of the token bucket.
    static final Setting<Integer> RATE_EVENT_MB = Setting.integer(
            "rate-event-mb",
            "",
            20,
            new Range(1, 50_000),
            "How many MB of events a worker may send, each minute; at most 50000.");
    static final Setting<Integer> RATE_HEARTBEATS = rate("rate-heartbeats", 10, "How often a worker's heart may beat");
    static final Setting<Integer> RATE_MESSAGES = rate("rate-messages", 30, "How often a worker may ask for messages");
    static final Setting<Integer> RATE_MODELS = rate("rate-models", 300, "How often an agent may ask a model");
    static final Setting<Integer> RATE_OTHERS = rate("rate-others", 60, "How often a worker may call anything else");
    static final Setting<Optional<String>> REDIS_HOST = Setting.text(
            "redis-host", "REDIS_HOST", "Reserved: this version keeps its state on one machine, and says so at start.");
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
        return Setting.integer(key, "", standard, new Range(1, MANY), meaning + ", each minute.");
    }
}
