package dev.vivarium.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/// Dependencies that each module may ship with, and the reason for the limit.
class ModulesTest {
    private static final String ANY = "*";

    /// A module, the dependencies of its shipped code, and the reason that it has no others.
    record Module(String name, Set<String> dependencies, String reason) {
        @Override
        public String toString() {
            return name;
        }
    }

    static List<Module> modules() {
        return List.of(
                new Module("guest", Set.of(), "the guest is Rust; its jar contains only the binary"),
                new Module("model", Set.of("jspecify"), "every module uses the model, so it has no dependencies"),
                new Module(
                        "core",
                        Set.of(
                                "vivarium-model",
                                "vivarium-guest",
                                "java-diff-utils",
                                "nimbus-jose-jwt",
                                "postgresql",
                                "slf4j-api",
                                "sqlite-jdbc"),
                        "the engine is a library: no HTTP, no JSON library, no command line"),
                new Module(
                        "json",
                        Set.of("vivarium-model", "jackson-core"),
                        "one module defines the wire format of the model, without the engine"),
                new Module(
                        "server",
                        Set.of(
                                "vivarium-core",
                                "vivarium-json",
                                "bucket4j_jdk17-core",
                                "jetty-alpn-java-server",
                                "jetty-http2-server",
                                "jetty-server",
                                "jetty-websocket-jetty-server",
                                "micrometer-registry-prometheus",
                                "slf4j-api",
                                "slf4j-jdk14",
                                "snakeyaml-engine"),
                        "the server adds HTTP to the engine"),
                new Module("sdk", Set.of("vivarium-model", "vivarium-json"), "a client does not depend on the server"),
                new Module(
                        "sdk-local",
                        Set.of("vivarium-sdk", "vivarium-core"),
                        "local mode implements the same interface on the engine, without HTTP"),
                new Module(
                        "third-party/picocli",
                        Set.of(),
                        "third-party sources, compiled for the Java version of this project"),
                new Module(
                        "cli",
                        Set.of("vivarium-sdk", "vivarium-picocli", "snakeyaml-engine"),
                        "the command line uses the public API only; it reads graphs of tasks as YAML"),
                new Module(
                        "demo",
                        Set.of("vivarium-server", "vivarium-cli", "vivarium-scripted"),
                        "the demo combines all modules, and no module depends on it"),
                new Module(
                        "console",
                        Set.of(),
                        "the console is TypeScript and uses the public API; its jar contains only files"),
                new Module(
                        "dist",
                        Set.of("vivarium-server", "vivarium-cli", "vivarium-demo", "vivarium-console"),
                        "the distribution contains these four modules"),
                new Module(
                        "scripted",
                        Set.of("jackson-core"),
                        "the scripted model is an HTTP server and does not depend on sandboxes"),
                new Module(
                        "testbed",
                        Set.of("postgresql", "awaitility", "junit-platform-launcher"),
                        "the testbed starts third-party servers only"),
                new Module("testing", Set.of(ANY), "the contract tests use every module"),
                new Module("examples", Set.of("vivarium-sdk", "vivarium-sdk-local"), "readers copy the examples"),
                new Module("bench", Set.of(ANY), "benchmarks compare with other products"),
                new Module("architecture", Set.of(), "the module has tests only"));
    }

    @Test
    void everyModuleIsListed() {
        assertThat(modules().stream().map(Module::name))
                .containsExactlyInAnyOrderElementsOf(texts(pom("pom.xml"), "module"));
    }

    @ParameterizedTest
    @MethodSource("modules")
    void moduleUsesOnlyAllowedDependencies(Module module) {
        if (!module.dependencies().contains(ANY)) {
            assertThat(shippedDependencies(module))
                    .as("%s may use only %s: %s", module.name(), module.dependencies(), module.reason())
                    .isSubsetOf(module.dependencies());
        }
    }

    private static Set<String> shippedDependencies(Module module) {
        Set<String> names = new TreeSet<>();
        NodeList dependencies = pom(module.name() + "/pom.xml").getElementsByTagName("dependency");
        for (int i = 0; i < dependencies.getLength(); i++) {
            Element dependency = (Element) dependencies.item(i);
            if (!texts(dependency, "scope").contains("test")) {
                names.addAll(texts(dependency, "artifactId"));
            }
        }
        return names;
    }

    private static List<String> texts(Element element, String tag) {
        List<String> texts = new ArrayList<>();
        NodeList nodes = element.getElementsByTagName(tag);
        for (int i = 0; i < nodes.getLength(); i++) {
            texts.add(nodes.item(i).getTextContent());
        }
        return texts;
    }

    private static Element pom(String path) {
        Path file = Repository.ROOT.resolve(path);
        try {
            return DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(file.toFile())
                    .getDocumentElement();
        } catch (Exception e) {
            throw new AssertionError(path, e);
        }
    }
}
