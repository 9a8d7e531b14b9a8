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

/// What each module may depend on, when it is shipped. A module is a promise to somebody; the reason says which.
class ModulesTest {
    private static final String ANY = "*";

    /// One module, every dependency of its shipped code, and why there are no others.
    record Module(String name, Set<String> dependencies, String reason) {
        @Override
        public String toString() {
            return name;
        }
    }

    static List<Module> modules() {
        return List.of(
                new Module("guest", Set.of(), "the program inside is Rust; its jar only carries the binary"),
                new Module("model", Set.of(), "everybody speaks these words, so they bring nothing along"),
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
                        "the wire form of the model is known in one place and needs no engine"),
                new Module(
                        "server",
                        Set.of(
                                "vivarium-core",
                                "vivarium-json",
                                "bucket4j_jdk17-core",
                                "jetty-server",
                                "jetty-websocket-jetty-server",
                                "micrometer-registry-prometheus",
                                "slf4j-api",
                                "slf4j-jdk14",
                                "snakeyaml-engine"),
                        "the edge adds HTTP and nothing that a library user would miss"),
                new Module("sdk", Set.of("vivarium-model", "vivarium-json"), "a client drags in no server"),
                new Module(
                        "sdk-local",
                        Set.of("vivarium-sdk", "vivarium-core"),
                        "local mode is the same interface on the engine, without HTTP"),
                new Module("third-party/picocli", Set.of(), "other people's sources, compiled for the Java we run on"),
                new Module(
                        "cli",
                        Set.of("vivarium-sdk", "vivarium-picocli"),
                        "the command line can do nothing that the API cannot"),
                new Module(
                        "demo",
                        Set.of("vivarium-server", "vivarium-cli", "vivarium-scripted"),
                        "it shows all of the product in one program, and is used by none of it"),
                new Module(
                        "console", Set.of(), "it is TypeScript and speaks the public API; its jar only carries files"),
                new Module(
                        "dist",
                        Set.of("vivarium-server", "vivarium-cli", "vivarium-demo", "vivarium-console"),
                        "what is shipped is these four"),
                new Module(
                        "scripted",
                        Set.of("jackson-core"),
                        "a model is outside the product: it is asked over HTTP and knows nothing of sandboxes"),
                new Module(
                        "testbed",
                        Set.of("postgresql", "awaitility", "junit-platform-launcher"),
                        "it starts other people's servers and knows nothing of ours"),
                new Module("testing", Set.of(ANY), "contracts are about everything"),
                new Module("examples", Set.of("vivarium-sdk", "vivarium-sdk-local"), "readers copy them"),
                new Module("bench", Set.of(ANY), "it compares us with others"),
                new Module("architecture", Set.of(), "it has tests only"));
    }

    @Test
    void everyModuleIsListedHere() {
        assertThat(modules().stream().map(Module::name))
                .containsExactlyInAnyOrderElementsOf(texts(pom("pom.xml"), "module"));
    }

    @ParameterizedTest
    @MethodSource("modules")
    void dependsOnWhatItIsAllowedTo(Module module) {
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
