package dev.vivarium.cli;

import dev.vivarium.json.ProblemJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.Health;
import dev.vivarium.sdk.RemoteClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/// Checks of `viv doctor`, in order of dependency. Confined to one thread.
final class DoctorChecks {
    private static final int UNAUTHORIZED = 401;

    /// Maximum difference of the clocks. Tokens expire after minutes, so a larger difference causes failures.
    private static final Duration TOLERATED_SKEW = Duration.ofSeconds(30);

    private static final Path LOOPS = Path.of("/dev/loop-control");
    private static final Path CGROUPS = Path.of("/sys/fs/cgroup/cgroup.controllers");

    private final Account account;
    private Consumer<Finding> findings = _ -> {};
    private boolean failed;

    DoctorChecks(Account account) {
        this.account = account;
    }

    /// Severity of a finding.
    enum Verdict {
        OK("\u001b[32m"),
        WARN("\u001b[33m"),
        FAIL("\u001b[31m");

        private final String colour;

        Verdict(String colour) {
            this.colour = colour;
        }

        String colour() {
            return colour;
        }

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /// Result of one check.
    record Finding(String check, Verdict verdict, String found, String remedy) {}

    boolean hasFailed() {
        return failed;
    }

    void run(Consumer<Finding> receiver) {
        findings = receiver;
        ok(
                "profile",
                account.profile() + account.user().map(user -> ", user " + user).orElse(""));
        if (server()) {
            key();
        }
        if (ServerOptions.isLocal(account.server())) {
            loops();
            cgroups();
        }
        startUp();
    }

    private boolean server() {
        var client = RemoteClient.of(account.server(), account.key().orElse("none"));
        long before = System.nanoTime();
        try {
            Health health = client.health();
            long millis = Duration.ofNanos(System.nanoTime() - before).toMillis();
            Instant now = Instant.now();
            ok("server", account.server() + " responds in " + millis + " ms");
            health.serverTime().ifPresent(theirs -> clock(Duration.between(theirs, now)));
            version(health.version());
            provider(health);
            return true;
        } catch (SandboxException e) {
            boolean reached = !(e.failure() instanceof Failure.ServerUnreachable);
            fail(
                    "server",
                    e.failure().sentence(),
                    reached ? "check the address" : "start one with viv serve, or check the address and the network");
            return false;
        }
    }

    /// The header of the server has whole seconds.
    private void clock(Duration skew) {
        if (skew.abs().compareTo(TOLERATED_SKEW) > 0) {
            warn(
                    "clock",
                    "this machine is " + skew.toSeconds() + " s ahead of the server",
                    "synchronize both clocks: tokens expire after minutes");
        } else {
            ok("clock", "agrees with the server's");
        }
    }

    private void version(String theirs) {
        String ours = Version.current();
        if (ours.equals(theirs)) {
            ok("version", ours + ", client and server");
        } else {
            warn("version", "viv is " + ours + ", the server " + theirs, "use the same version on both sides");
        }
    }

    private void provider(Health health) {
        Health.Provider provider = health.provider();
        String found = provider.name() + ": " + provider.isolation() + "; disk limit " + provider.diskLimit()
                + "; cgroups " + provider.cgroups();
        if (provider.isolates()) {
            ok("isolation", found);
        } else {
            warn("isolation", found, "sandboxes are not isolated: for tests and laptops only");
        }
        health.failing().forEach((part, why) -> fail(part, why, "see the log of the server"));
    }

    private void key() {
        if (account.key().isEmpty()) {
            fail("key", account.missingKey(), "set VIV_API_KEY, or give the profile a key");
            return;
        }
        try {
            RemoteClient.of(account.server(), account.requireKey()).threads().first(1);
            ok("key", "valid");
        } catch (SandboxException e) {
            int status = ProblemJson.status(e.failure());
            if (e.failure() instanceof Failure.ServerUnreachable) {
                fail("key", e.failure().sentence(), "try again");
            } else if (status == UNAUTHORIZED) {
                fail("key", "the server does not accept it", "an admin can issue one: viv keys issue USER");
            } else {
                warn("key", "the server answered " + status, "see the log of the server");
            }
        }
    }

    private void loops() {
        if (Files.isWritable(LOOPS)) {
            ok("disks", "loop devices are available");
        } else {
            warn(
                    "disks",
                    LOOPS + " is missing or not accessible",
                    "run the server as root to limit the disks of sandboxes");
        }
    }

    private void cgroups() {
        try {
            ok("cgroups", "version 2: " + Files.readString(CGROUPS).strip());
        } catch (IOException _) {
            warn("cgroups", "no cgroup v2 at /sys/fs/cgroup", "without it, limits of memory and processes are weaker");
        }
    }

    /// Starts another JVM that requires the cache, because a JVM ignores an unsuitable cache without a message.
    private void startUp() {
        String cache = System.getProperty("viv.aot", "");
        if (cache.isEmpty()) {
            warn("start-up", "no AOT cache; commands start slowly", "make build creates one");
            return;
        }
        try {
            Process commandWithCache = new ProcessBuilder(commandWithCache(cache))
                    .redirectErrorStream(true)
                    .start();
            boolean used = commandWithCache.waitFor(20, TimeUnit.SECONDS) && commandWithCache.exitValue() == 0;
            commandWithCache.destroyForcibly();
            if (used) {
                ok("start-up", "the AOT cache is used");
            } else {
                warn("start-up", "the AOT cache does not fit this JDK or these jars", "make build creates a new one");
            }
        } catch (IOException e) {
            warn("start-up", "could not check the AOT cache: " + e.getMessage(), "");
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private static List<String> commandWithCache(String cache) {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        return List.of(
                java,
                "-XX:AOTMode=on",
                "-XX:AOTCache=" + cache,
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "--version");
    }

    private void ok(String check, String found) {
        findings.accept(new Finding(check, Verdict.OK, found, ""));
    }

    private void warn(String check, String found, String remedy) {
        findings.accept(new Finding(check, Verdict.WARN, found, remedy));
    }

    private void fail(String check, String found, String remedy) {
        failed = true;
        findings.accept(new Finding(check, Verdict.FAIL, found, remedy));
    }
}
