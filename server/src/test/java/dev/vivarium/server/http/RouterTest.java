package dev.vivarium.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.core.access.Scope;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RouterTest {
    private final Router router = new Router(List.of(
            Route.undocumented("GET", "/health", Route.Access.OPEN, exchange -> {}),
            Route.undocumented("GET", "/files/{name}", Route.Access.KEY, exchange -> {}),
            Route.undocumented("DELETE", "/files/{name}", Route.Access.KEY, exchange -> {}),
            Route.undocumented("GET", "/boxes/{box}/files/{path…}", Route.Access.scoped(Scope.FS_RO), exchange -> {})));

    @Test
    void pathParameterIsDecodedOnce() {
        assertThat(parameters("/files/a%2Fb%2525%20%E2%82%AC")).isEqualTo(Map.of("name", "a/b%25 €"));
    }

    @Test
    void unencodedCharacterOutsideTheBmpIsKept() {
        assertThat(parameters("/files/\uD83D\uDE00%20b")).isEqualTo(Map.of("name", "\uD83D\uDE00 b"));
    }

    @Test
    void lastParameterTakesTheRestOfThePath() {
        var match = router.find("GET", "/boxes/b/files/a%20b/c%2Fd//e%252F").orElseThrow();

        assertThat(match.raw()).isEqualTo(Map.of("box", "b", "path", "a%20b/c%2Fd//e%252F"));
        assertThat(match.parameters()).isEqualTo(Map.of("box", "b", "path", "a b/c/d//e%2F"));
        assertThat(parameters("/boxes/b/files/")).isEqualTo(Map.of("box", "b", "path", ""));
        assertThat(router.find("GET", "/boxes/b/files")).isEmpty();
        assertThat(router.find("GET", "/boxes/b/c/files/a")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/Health", "/health/", "//health", "/./health", "/health;x=1", "/%68ealth", "/", "/files"})
    void similarPathMatchesNoRoute(String path) {
        assertThat(router.find("GET", path)).isEmpty();
        assertThat(router.methods(path)).isEmpty();
    }

    @Test
    void headUsesTheGetRoute() {
        assertThat(router.find("HEAD", "/health")).isPresent();
    }

    @Test
    void methodsOfAPathAreListed() {
        assertThat(router.find("POST", "/files/x")).isEmpty();
        assertThat(router.methods("/files/x")).containsExactly("DELETE", "GET", "HEAD");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/files/%", "/files/%4", "/files/%zz", "/files/%C0%80", "/files/%ff"})
    void invalidEncodingIsRejected(String path) {
        assertThatThrownBy(() -> router.find("GET", path)).hasMessageStartingWith("name ");
    }

    @Test
    void queryIsDecodedOnceAndRejectsDuplicateNames() {
        assertThat(Paths.query("a=b+c%2B&d=&e")).isEqualTo(Map.of("a", "b c+", "d", "", "e", ""));
        assertThatThrownBy(() -> Paths.query("a=1&%61=2")).hasMessage("a must be given once");
    }

    private Map<String, String> parameters(String path) {
        return router.find("GET", path).orElseThrow().parameters();
    }
}
