package dev.vivarium.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.CompilationUnitTree;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/// Allowed dependencies between the packages of `core` and of `server`. They form no cycle, so that a request goes down
/// through the packages.
class PackagesTest {
    private static final String CORE = "dev.vivarium.core";
    private static final String SERVER = "dev.vivarium.server";
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("dev.vivarium");

    /// Packages that a package may use, and the reason for the limit.
    record Layer(Set<String> mayUse, String reason) {}

    /// A use of the package `to` by `type`, which is in the package `from`.
    record Use(String from, String to, String type) {}

    private static final Map<String, Layer> CORE_LAYERS = Map.ofEntries(
            Map.entry(
                    "guard.liveness",
                    new Layer(
                            Set.of("git", "run", "sandbox", "exec", "guest", "provider", "access", "log", "store"),
                            "the supervision examines sandboxes and restarts runs, and the audit log shows it")),
            Map.entry(
                    "guard.trajectory",
                    new Layer(
                            Set.of("task", "run", "sandbox", "access", "log", "store"),
                            "the guardian reads the log and acts on runs as a person does, and the audit log shows it")),
            Map.entry(
                    "git",
                    new Layer(
                            Set.of("run", "sandbox", "exec", "access", "egress", "provider", "log", "store"),
                            "it prepares the sandboxes of runs, and delivers their work to remotes")),
            Map.entry(
                    "guard.anomaly",
                    new Layer(
                            Set.of("run", "access", "log", "store"),
                            "anomalies and alerts read the log, the runs and the audit log, and append events")),
            Map.entry(
                    "webhook",
                    new Layer(
                            Set.of("run", "egress", "access", "log", "store"),
                            "webhooks read the log and connect to addresses that the egress policy permits")),
            Map.entry(
                    "task",
                    new Layer(
                            Set.of("run", "sandbox", "exec", "access", "log", "store"),
                            "the queue starts runs for the owners of tasks, and the audit log shows it; the check of"
                                    + " a race is a command")),
            Map.entry(
                    "run",
                    new Layer(
                            Set.of("sandbox", "exec", "files", "image", "log", "store"),
                            "a run happens in a sandbox of the worker image and appends to its log")),
            Map.entry(
                    "watch",
                    new Layer(
                            Set.of("sandbox", "files", "guest", "provider", "log", "store"),
                            "watchers observe sandboxes and append to their logs")),
            Map.entry(
                    "lifecycle",
                    new Layer(
                            Set.of("sandbox", "exec", "log"),
                            "it writes what sandboxes and their commands do, as a listener of the engine")),
            Map.entry("access", new Layer(Set.of("store"), "authorization happens before any call to a sandbox")),
            Map.entry(
                    "sandbox",
                    new Layer(
                            Set.of(
                                    "exec",
                                    "files",
                                    "shell",
                                    "preview",
                                    "egress",
                                    "inside",
                                    "guest",
                                    "provider",
                                    "store"),
                            "the engine works with any provider and any image; only Main selects them")),
            Map.entry("exec", guestOnly()),
            Map.entry("files", guestOnly()),
            Map.entry("shell", new Layer(Set.of("guest", "exec"), "a terminal is a command with a screen")),
            Map.entry("preview", guestOnly()),
            Map.entry("egress", guestOnly()),
            Map.entry("inside", guestOnly()),
            Map.entry("guest", new Layer(Set.of(), "the guest protocol is the same for all providers")),
            Map.entry(
                    "provider",
                    new Layer(Set.of(), "a provider has lifecycle operations and a byte stream, nothing else")),
            Map.entry("provider.oci", new Layer(Set.of("provider", "image"), "providers do not depend on each other")),
            Map.entry("provider.process", new Layer(Set.of("provider"), "providers do not depend on each other")),
            Map.entry("image", new Layer(Set.of("provider"), "an image is files, whichever provider runs it")),
            Map.entry(
                    "log",
                    new Layer(Set.of("store"), "all packages may append to the log, and the log calls none of them")),
            Map.entry("store", new Layer(Set.of(), "the store holds rows; the packages above interpret them")));

    private static Layer guestOnly() {
        return new Layer(Set.of("guest"), "operations on a running sandbox need its connection, not its lifecycle");
    }

    private static final Map<String, Layer> SERVER_LAYERS = Map.ofEntries(
            Map.entry(
                    "socket",
                    new Layer(
                            Set.of("access", "api", "feed", "http", "operation", "settings", "telemetry"),
                            "WebSocket commands use the sandbox lookup and file trees of the HTTP operations")),
            Map.entry(
                    "api",
                    new Layer(
                            Set.of("access", "console", "feed", "http", "operation", "settings", "telemetry"),
                            "operations do not know sockets; the welcome route shows the start page of the console")),
            Map.entry(
                    "operation",
                    new Layer(
                            Set.of("access", "settings", "telemetry"),
                            "HTTP, WebSocket, MCP and other protocols call the same operations")),
            Map.entry("console", httpOnly("the console is static pages and a sign-in")),
            Map.entry("preview", httpOnly("a preview forwards bytes; the operations of the API are not involved")),
            Map.entry(
                    "model",
                    new Layer(
                            Set.of("http", "settings", "telemetry"),
                            "the model gateway forwards requests and records their cost")),
            Map.entry("git", new Layer(Set.of("http"), "the git relay forwards requests of sandboxes to remotes")),
            Map.entry("feed", new Layer(Set.of("http"), "a feed authorizes its subscribers with HTTP principals")),
            Map.entry("http", new Layer(Set.of("access", "settings"), "the HTTP layer knows no operation")),
            Map.entry("access", new Layer(Set.of(), "every protocol finds sandboxes in the same way")),
            Map.entry("telemetry", new Layer(Set.of("settings"), "every package may report; telemetry calls none")),
            Map.entry("settings", new Layer(Set.of(), "settings are values")));

    private static Layer httpOnly(String reason) {
        return new Layer(Set.of("http", "settings"), reason);
    }

    /// Classes of the root package of `core` are for every package.
    @Test
    void corePackagesUseOnlyAllowedPackages() {
        assertThat(violations(CORE, CORE_LAYERS)).isEmpty();
    }

    /// The root package of `server` composes the others, and none of them uses it.
    @Test
    void serverPackagesUseOnlyAllowedPackages() {
        assertThat(violations(SERVER, SERVER_LAYERS)).isEmpty();
        assertThat(uses())
                .filteredOn(use -> use.to().equals(SERVER) && use.from().startsWith(SERVER + "."))
                .isEmpty();
    }

    private static Set<String> violations(String root, Map<String, Layer> layers) {
        String prefix = root + ".";
        Set<String> violations = new TreeSet<>();
        for (Use use : uses()) {
            if (use.from().startsWith(prefix) && use.to().startsWith(prefix)) {
                String from = use.from().substring(prefix.length());
                String to = use.to().substring(prefix.length());
                Layer layer = layers.get(from);
                if (layer == null) {
                    violations.add(from + " is a new package: give it a place in PackagesTest, with a reason");
                } else if (!layer.mayUse().contains(to)) {
                    violations.add("%s must not use %s (%s): %s".formatted(from, to, layer.reason(), use.type()));
                }
            }
        }
        return violations;
    }

    /// Uses by class files and by imports. The compiler inlines constants, so that class files lack some uses.
    /// Imports lack the uses by qualified names.
    private static Set<Use> uses() {
        Set<Use> uses = new HashSet<>();
        for (JavaClass origin : CLASSES) {
            origin.getDirectDependenciesFromSelf()
                    .forEach(dependency -> uses.add(new Use(
                            origin.getPackageName(),
                            dependency.getTargetClass().getPackageName(),
                            origin.getSimpleName())));
        }
        assertThat(uses).as("uses in class files").isNotEmpty();
        int compiled = uses.size();
        for (CompilationUnitTree unit : Sources.parse().units()) {
            String file = Path.of(unit.getSourceFile().getName()).getFileName().toString();
            unit.getImports()
                    .forEach(line -> uses.add(new Use(
                            unit.getPackageName().toString(),
                            packageOf(line.getQualifiedIdentifier().toString()),
                            file)));
        }
        assertThat(uses).as("uses in imports").hasSizeGreaterThan(compiled);
        uses.removeIf(use -> use.from().equals(use.to()));
        return uses;
    }

    /// Part of an imported name before its first type, which begins with a capital.
    private static String packageOf(String name) {
        return name.replaceFirst("\\.[A-Z*].*", "");
    }

    @Test
    void importsOfConstantsCountAsUses() {
        assertThat(packageOf("dev.vivarium.core.guest.Frame.MAX")).isEqualTo("dev.vivarium.core.guest");
        assertThat(packageOf("dev.vivarium.core.guest.*")).isEqualTo("dev.vivarium.core.guest");
    }

    @Test
    void engineUsesNeitherHttpNorJson() {
        ArchRuleDefinition.noClasses()
                .that()
                .resideInAnyPackage("dev.vivarium.model..", "dev.vivarium.policy..", "dev.vivarium.core..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("java.net.http..", "com.sun.net.httpserver..", "tools.jackson..", "com.fasterxml..")
                .because("a program that embeds the engine chooses its own HTTP and JSON libraries")
                .check(CLASSES);
    }

    @Test
    void operationsDoNotDependOnTransports() {
        ArchRuleDefinition.noClasses()
                .that()
                .resideInAPackage("dev.vivarium.server.operation..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "org.eclipse.jetty..",
                        "dev.vivarium.server.http..",
                        "dev.vivarium.server.api..",
                        "dev.vivarium.server.socket..")
                .because("HTTP routes, WebSocket commands and MCP tools call the same operations")
                .check(CLASSES);
    }

    @Test
    void librariesDoNotDependOnServerOrCli() {
        ArchRuleDefinition.noClasses()
                .that()
                .resideInAnyPackage("dev.vivarium.core..", "dev.vivarium.sdk..", "dev.vivarium.json..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("dev.vivarium.server..", "dev.vivarium.cli..")
                .because("server and command line are built on the libraries")
                .check(CLASSES);
    }

    @Test
    void everyPackageIsDocumentedAndNullMarked() {
        Set<Path> directories = new TreeSet<>();
        Repository.mainSources().forEach(file -> directories.add(file.getParent()));
        assertThat(directories).allSatisfy(PackagesTest::assertDocumented);
    }

    private static void assertDocumented(Path directory) {
        Path info = directory.resolve("package-info.java");
        assertThat(Files.exists(info))
                .as("%s has a package-info.java", Repository.relative(directory))
                .isTrue();
        List<String> lines = Repository.lines(info);
        assertThat(lines.getFirst()).as(Repository.relative(info)).startsWith("/// ");
        assertThat(lines).as("%s is null-marked", Repository.relative(info)).anyMatch(l -> l.startsWith("@NullMarked"));
    }
}
