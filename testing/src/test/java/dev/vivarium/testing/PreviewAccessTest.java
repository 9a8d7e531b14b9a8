package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.access.Grant;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.access.TokenRequest;
import dev.vivarium.model.SandboxId;
import dev.vivarium.testing.Program.Raw;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Authentication and authorization of previews.
@Timeout(120)
class PreviewAccessTest {
    private static TestServer server;
    private static Program program;

    @BeforeAll
    static void start() {
        server = TestServer.start();
        program = Program.start(server);
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void requestWithoutACredentialIsUnauthorized() {
        for (Raw answer : List.of(program.anonymous(program.prefix() + "/headers", "x"), atHost("/headers"))) {
            assertThat(answer.status()).isEqualTo(401);
            assertThat(answer.body()).contains("this preview is private", "viv_token");
        }
    }

    @Test
    void anotherUsersSandboxIsNotFound() {
        String other = key("eve");
        var foreign = atHost("/headers", "Authorization: Bearer " + other);
        var absent = program.anonymous(
                "/headers",
                program.host().replace(program.session(), "sbxaaaaaaaaaaaaaaaaaaaa"),
                "Authorization: Bearer " + other);

        assertThat(foreign.status()).isEqualTo(404);
        assertThat(absent.status()).isEqualTo(404);
        assertThat(foreign.body().replace(program.session(), "ID"))
                .isEqualTo(absent.body().replace("sbxaaaaaaaaaaaaaaaaaaaa", "ID"));
    }

    @Test
    void tokenIsAcceptedAndNotForwarded() {
        String token = token(program, Scope.PROCESS);
        var answer = atHost("/headers", "Authorization: Bearer " + token);

        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.body()).doesNotContain(token);
    }

    @ParameterizedTest
    @EnumSource(
            value = Scope.class,
            names = {"PROCESS"},
            mode = EnumSource.Mode.EXCLUDE)
    void otherScopesAreForbidden(Scope scope) {
        assertThat(atHost("/headers", "Authorization: Bearer " + token(program, scope))
                        .status())
                .isEqualTo(403);
    }

    @Test
    void tokenOfAnotherSandboxIsNotFound() {
        var other = Program.start(server);

        assertThat(atHost("/headers", "Authorization: Bearer " + token(other, Scope.PROCESS))
                        .status())
                .isEqualTo(404);
        assertThat(atHost("/headers?viv_token=" + token(other, Scope.PROCESS)).status())
                .isEqualTo(404);
    }

    @Test
    void tokenInTheQueryIsExchangedForACookie() {
        String token = token(program, Scope.PROCESS);
        var redirect = atHost("/headers?a=1&viv_token=" + token + "&b=2");

        assertThat(redirect.status()).isEqualTo(303);
        assertThat(redirect.headers("Location")).containsExactly("http://" + program.host() + "/headers?a=1&b=2");
        assertThat(redirect.headers("Referrer-Policy")).containsExactly("no-referrer");
        assertThat(redirect.headers("Cache-Control")).containsExactly("no-store");
        String cookie = redirect.headers("Set-Cookie").getFirst();
        assertThat(cookie).contains("; Path=/;", "; HttpOnly", "; SameSite=Strict", "; Max-Age=");

        var answer = atHost("/headers?a=1", "Cookie: mine=1; " + cookie.substring(0, cookie.indexOf(';')));
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.body()).contains("mine=1").doesNotContain(token);
    }

    @Test
    void cookieInACrossSiteFrameIsPartitioned() {
        String token = token(program, Scope.PROCESS);
        var framed = atHost("/?viv_token=" + token, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: iframe");
        var belowApi = program.anonymous(
                program.prefix() + "/?viv_token=" + token,
                "localhost:1",
                "Sec-Fetch-Site: cross-site",
                "Sec-Fetch-Dest: iframe");
        var otherHost =
                program.anonymous(program.prefix() + "/?viv_token=" + token, "some.host:1", "Sec-Fetch-Dest: iframe");

        assertThat(framed.headers("Set-Cookie").getFirst())
                .contains("; HttpOnly", "; SameSite=None", "; Partitioned", "; Secure");
        assertThat(belowApi.headers("Set-Cookie").getFirst()).contains("; SameSite=Strict");
        assertThat(otherHost.headers("Set-Cookie").getFirst()).contains("; SameSite=Strict");
    }

    @Test
    void cookieIsSecureBehindTls() {
        try (var secure = TestServer.start("--public-url", "https://sandboxes.example")) {
            var preview = Program.start(secure);
            var redirect = preview.anonymous("/?viv_token=" + token(secure, preview, Scope.PROCESS), preview.host());

            assertThat(redirect.headers("Location")).containsExactly("https://" + preview.host() + "/");
            assertThat(redirect.headers("Set-Cookie").getFirst()).contains("; Secure");
        }
    }

    @Test
    void accessIsAuditedOncePerTokenAndPort() {
        String token = token(program, Scope.PROCESS);
        for (int i = 0; i < 20; i++) {
            assertThat(atHost("/headers", "Authorization: Bearer " + token).status())
                    .isEqualTo(200);
            assertThat(program.get("/headers").status()).isEqualTo(200);
        }
        var info = server.sandboxes().require(new SandboxId(program.session())).info();
        String path = "/threads/" + info.thread().value() + "/audit?limit=1000";
        var accesses = server.api().get(path).json().objects("entries").stream()
                .filter(entry -> entry.string("kind").equals("used"))
                .filter(entry -> entry.optionalString("detail").equals(Optional.of("port " + program.port())))
                .toList();
        String jti = server.tokens().verify(token).jti();
        assertThat(accesses)
                .filteredOn(entry -> entry.optionalString("jti").equals(Optional.of(jti)))
                .hasSize(1);
        assertThat(accesses)
                .filteredOn(entry -> entry.optionalString("jti").isEmpty())
                .hasSize(1);
    }

    @Test
    void rejectionNamesTheTokenOfAQueryOrCookie() {
        String withoutScope = token(program, Scope.FS_RO);
        assertThat(atHost("/headers?viv_token=" + withoutScope).status()).isEqualTo(403);
        String withScope = token(program, Scope.PROCESS);
        String cookie = atHost("/headers?viv_token=" + withScope)
                .headers("Set-Cookie")
                .getFirst()
                .replaceAll(";.*", "");
        assertThat(atHost("/headers", "Cookie: " + cookie, "Origin: http://elsewhere.example")
                        .status())
                .isEqualTo(403);

        String path = "/admin/audit?limit=1000";
        for (String token : List.of(withoutScope, withScope)) {
            String jti = server.tokens().verify(token).jti();
            await().untilAsserted(() -> assertThat(server.api().get(path).json().objects("entries"))
                    .anyMatch(entry -> entry.string("kind").equals("refused")
                            && entry.optionalString("jti").equals(Optional.of(jti))));
        }
    }

    @Test
    void revokedTokenClosesItsTunnel() throws Exception {
        String token = token(program, Scope.PROCESS);
        String jti = server.tokens().verify(token).jti();
        try (var socket = program.connect()) {
            String request = "GET /raw HTTP/1.1\r\nHost: " + program.host() + "\r\nAuthorization: Bearer " + token
                    + "\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            var in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
            assertThat(in.readLine()).startsWith("HTTP/1.1 101 ");
            while (!in.readLine().isEmpty()) {
                // Skips the rest of the head.
            }
            socket.getOutputStream().write('x');
            assertThat(in.read()).isEqualTo('x');

            var info =
                    server.sandboxes().require(new SandboxId(program.session())).info();
            var revoked = server.api()
                    .post("/threads/" + info.thread().value() + "/sandbox/revoke", "{\"jti\":\"" + jti + "\"}");

            assertThat(revoked.status()).as(revoked.text()).isEqualTo(200);
            assertThat(in.read()).isEqualTo(-1);
        }
    }

    @Test
    void cookieBelowTheApiIsLimitedToThePreviewPath() {
        var redirect =
                program.anonymous(program.prefix() + "/?viv_token=" + token(program, Scope.PROCESS), "some.host:1");

        assertThat(redirect.headers("Location")).containsExactly("http://some.host:1" + program.prefix() + "/");
        assertThat(redirect.headers("Set-Cookie").getFirst()).contains("; Path=" + program.prefix() + "/;");
    }

    @Test
    void tokenLinkFromAnotherSiteIsAccepted() {
        var redirect = atHost("/a'\"<b?viv_token=" + token(program, Scope.PROCESS), "Sec-Fetch-Site: cross-site");

        assertThat(redirect.status()).isEqualTo(200);
        assertThat(redirect.headers("Content-Security-Policy")).containsExactly("default-src 'none'");
        assertThat(redirect.body()).contains("http-equiv=\"refresh\"", "/a&#39;&quot;&lt;b\"");
    }

    @Test
    void tokenRedirectStaysOnThePreviewHost() {
        var redirect = atHost("//evil.example/?viv_token=" + token(program, Scope.PROCESS));

        assertThat(redirect.headers("Location")).containsExactly("http://" + program.host() + "//evil.example/");
    }

    @Test
    void keyInTheQueryIsRejected() {
        assertThat(atHost("/headers?viv_token=" + program.key()).status()).isEqualTo(401);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "x", "a.b.c", "eyJhbGciOiJub25lIn0.e30."})
    void invalidTokenIsRejected(String token) {
        assertThat(atHost("/headers?viv_token=" + token).status()).isEqualTo(401);
        assertThat(atHost("/headers", "Cookie: viv_preview=" + token).status()).isEqualTo(401);
        assertThat(atHost("/headers", "Authorization: Bearer " + token).status())
                .isEqualTo(401);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Origin: http://9999-sbxaaaaaaaaaaaaaaaaaaaa.localhost:8000",
                "Origin: null",
                "Sec-Fetch-Site: same-site",
                "Sec-Fetch-Site: cross-site",
            })
    void otherOriginsCannotUseTheCookie(String header) {
        String cookie = "Cookie: viv_preview=" + token(program, Scope.PROCESS);

        assertThat(atHost("/headers", cookie, header).status()).isEqualTo(403);
        assertThat(atHost("/ws", cookie, header, "Connection: Upgrade", "Upgrade: websocket")
                        .status())
                .isEqualTo(403);
    }

    @Test
    void ownOriginAndNavigationCanUseTheCookie() {
        String cookie = "Cookie: viv_preview=" + token(program, Scope.PROCESS);

        assertThat(atHost("/headers", cookie, "Origin: http://" + program.host(), "Sec-Fetch-Site: same-origin")
                        .status())
                .isEqualTo(200);
        assertThat(atHost("/headers", cookie, "Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: navigate")
                        .status())
                .isEqualTo(200);
    }

    @Test
    void plantedCookieDoesNotHideTheValidOne() {
        var answer = atHost("/headers", "Cookie: viv_preview=planted; viv_preview=" + token(program, Scope.PROCESS));

        assertThat(answer.status()).isEqualTo(200);
    }

    @Test
    void authorizationIsForwardedWithACookieUnlessItIsAServerKey() {
        String cookie = "Cookie: viv_preview=" + token(program, Scope.PROCESS);

        assertThat(atHost("/headers", cookie, "Authorization: Bearer its-own").body())
                .contains("its-own");
        assertThat(atHost("/headers", cookie, "Authorization: Bearer " + program.key())
                        .body())
                .doesNotContain(program.key());
    }

    private static Raw atHost(String path, String... headers) {
        return program.anonymous(path, program.host(), headers);
    }

    private static String key(String user) {
        return server.api()
                .post("/admin/keys", "{\"user_id\":\"" + user + "\"}")
                .json()
                .string("key");
    }

    private static String token(Program program, Scope scope) {
        return token(server, program, scope);
    }

    private static String token(TestServer server, Program program, Scope scope) {
        var info = server.sandboxes().require(new SandboxId(program.session())).info();
        return server.tokens()
                .issue(new TokenRequest(
                        info.user(),
                        Grant.Standing.OWNER,
                        info.id(),
                        info.key(),
                        Scopes.of(scope),
                        Duration.ofMinutes(5),
                        List.of()))
                .token();
    }
}
