package dev.vivarium.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/// Which packages may call which. Calls go down only, so that a request draws as one column.
class PackagesTest {
    /// The root package `dev.vivarium.core` itself is for what all may use: the way back out of half-done work.
    private static final String CORE = "dev.vivarium.core.";
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("dev.vivarium");

    /// What a package of the engine may use of the others, and why not more.
    record Layer(Set<String> mayUse, String reason) {}

    private static final Map<String, Layer> LAYERS = Map.ofEntries(
            Map.entry(
                    "run",
                    new Layer(
                            Set.of("sandbox", "exec", "files", "log", "store"),
                            "a run is what happens in a sandbox, and is told in its log")),
            Map.entry(
                    "watch",
                    new Layer(
                            Set.of("sandbox", "files", "guest", "provider", "log", "store"),
                            "it looks at sandboxes as anybody may, and tells their logs")),
            Map.entry("access", new Layer(Set.of("store"), "who may do what is decided before a sandbox is touched")),
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
                                    "store",
                                    "log"),
                            "the engine takes any provider and any image; only Main picks one")),
            Map.entry("exec", onTheWire()),
            Map.entry("files", onTheWire()),
            Map.entry("shell", new Layer(Set.of("guest", "exec"), "a terminal is a command with a screen")),
            Map.entry("preview", onTheWire()),
            Map.entry("egress", onTheWire()),
            Map.entry("inside", onTheWire()),
            Map.entry("guest", new Layer(Set.of(), "the wire is the same whoever isolates, so it knows no provider")),
            Map.entry(
                    "provider",
                    new Layer(Set.of(), "a provider gives lifecycle verbs and a byte stream, nothing else")),
            Map.entry("provider.oci", new Layer(Set.of("provider", "image"), "providers know nothing of each other")),
            Map.entry("provider.process", new Layer(Set.of("provider"), "providers know nothing of each other")),
            Map.entry(
                    "image",
                    new Layer(Set.of("provider"), "a root file system is files; who runs it is not its business")),
            Map.entry("log", new Layer(Set.of("store"), "the log is read by all and calls none of them")),
            Map.entry("store", new Layer(Set.of(), "the store knows rows; what they mean is decided above it")));

    private static Layer onTheWire() {
        return new Layer(Set.of("guest"), "what one does with a running sandbox needs its wire, not its life");
    }

    @Test
    void callsInTheEngineGoDownOnly() {
        assertThat(CLASSES).as("classes found").isNotEmpty();
        Set<String> violations = new TreeSet<>();
        for (JavaClass origin : CLASSES) {
            origin.getDirectDependenciesFromSelf().forEach(dependency -> judge(dependency, violations));
        }
        assertThat(violations).isEmpty();
    }

    private static void judge(Dependency dependency, Set<String> violations) {
        String from = dependency.getOriginClass().getPackageName();
        String to = dependency.getTargetClass().getPackageName();
        if (!from.startsWith(CORE) || !to.startsWith(CORE) || from.equals(to)) {
            return;
        }
        String name = from.substring(CORE.length());
        Layer layer = LAYERS.get(name);
        if (layer == null) {
            violations.add(name + " is a new package: give it a place in PackagesTest, with a reason");
        } else if (!layer.mayUse().contains(to.substring(CORE.length()))) {
            violations.add("%s must not use %s (%s): %s"
                    .formatted(
                            name,
                            to.substring(CORE.length()),
                            layer.reason(),
                            dependency.getOriginClass().getSimpleName()));
        }
    }

    @Test
    void theEngineKnowsNoHttpAndNoJson() {
        ArchRuleDefinition.noClasses()
                .that()
                .resideInAnyPackage("dev.vivarium.model..", "dev.vivarium.policy..", "dev.vivarium.core..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("java.net.http..", "com.sun.net.httpserver..", "tools.jackson..", "com.fasterxml..")
                .because("a program that embeds the engine brings its own, or none")
                .check(CLASSES);
    }

    @Test
    void operationsKnowNoTransport() {
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
    void theServerIsComposedInItsMainOnly() {
        ArchRuleDefinition.noClasses()
                .that()
                .resideInAnyPackage("dev.vivarium.core..", "dev.vivarium.sdk..", "dev.vivarium.json..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("dev.vivarium.server..", "dev.vivarium.cli..")
                .because("the library is the product; server and command line are shells around it")
                .check(CLASSES);
    }

    @Test
    void everyPackageSaysWhatItIsAndThatItHoldsNoNulls() {
        Set<Path> directories = new TreeSet<>();
        Repository.mainSources().forEach(file -> directories.add(file.getParent()));
        assertThat(directories).allSatisfy(PackagesTest::isDocumented);
    }

    private static void isDocumented(Path directory) {
        Path info = directory.resolve("package-info.java");
        assertThat(Files.exists(info))
                .as("%s has a package-info.java", Repository.relative(directory))
                .isTrue();
        List<String> lines = Repository.lines(info);
        assertThat(lines.getFirst()).as(Repository.relative(info)).startsWith("/// ");
        assertThat(lines).as("%s is null-marked", Repository.relative(info)).anyMatch(l -> l.startsWith("@NullMarked"));
    }
}
