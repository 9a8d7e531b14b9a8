package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.JsonFields;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Browser sign-in by cookie, and its protection against cross-origin requests.
class SignInTest {
    private static final String SESSION = "/console/session";
    private static final String OTHER_ORIGIN = "https://elsewhere.example";

    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with();

    private final Api api = SERVER.api();
    private final URI server = SERVER.get().uri();
    private final String ownOrigin = server.toString();

    @Test
    void signInExchangesAKeyForACookie() {
        Api.Answer answer = signIn(api.key());
        String set = answer.headers().firstValue("Set-Cookie").orElseThrow();
        String cookie = set.split(";")[0];

        assertThat(answer.status()).isEqualTo(204);
        assertThat(set)
                .matches("viv_session=[A-Za-z0-9_-]{43}; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict")
                .doesNotContain(api.key());
        JsonFields signedIn = get(SESSION, "Cookie", cookie).json();
        assertThat(signedIn.string("user_id")).isEqualTo("admin");
        assertThat(signedIn.flag("is_admin")).isTrue();
        assertThat(signedIn.object("server").object("previews").string("domain"))
                .isEqualTo("localhost");
        assertThat(signedIn.optionalTime("expires_at")).isPresent();
        assertThat(get("/admin/keys", "Cookie", cookie).status()).isEqualTo(200);
        assertThat(post("/create_session", session(), "Cookie", cookie, "Origin", ownOrigin)
                        .status())
                .isEqualTo(201);
    }

    @Test
    void sessionHasOnlyTheRightsOfItsUser() {
        String cookie = cookie(api.as("anna").key());
        JsonFields signedIn = get(SESSION, "Cookie", cookie).json();

        assertThat(signedIn.string("user_id")).isEqualTo("anna");
        assertThat(signedIn.flag("is_admin")).isFalse();
        assertThat(get("/admin/keys", "Cookie", cookie).status()).isEqualTo(403);
        assertThat(get("/api/v1/sandboxes/" + api.session() + "/events", "Cookie", cookie)
                        .status())
                .isEqualTo(404);
    }

    @Test
    void onlyAKeySignsIn() {
        assertThat(signIn("nonsense").status()).isEqualTo(401);
        assertThat(signIn(SERVER.get().token(api.session())).status()).isEqualTo(401);
        assertThat(post(SESSION, "{}", "Origin", ownOrigin).status()).isEqualTo(400);
        assertThat(Api.send(plain(SESSION)
                                .header("Origin", ownOrigin)
                                .header("Content-Type", "text/plain")
                                .POST(BodyPublishers.ofString("{\"key\":\"" + api.key() + "\"}")))
                        .status())
                .isEqualTo(415);
        assertThat(get(SESSION).status()).isEqualTo(401);
        assertThat(api.get(SESSION).json().string("user_id")).isEqualTo("admin");
    }

    @ParameterizedTest
    @CsvSource({
        "Origin,https://elsewhere.example",
        "Origin,null",
        "Origin,http://127.0.0.1",
        "Origin,ftp://127.0.0.1",
        "Origin,http://user@127.0.0.1",
        "Sec-Fetch-Site,same-origin",
        "Sec-Fetch-Site,none"
    })
    void otherOriginsCannotSignIn(String name, String value) {
        var answer = post(SESSION, "{\"key\":\"" + api.key() + "\"}", name, value);

        assertThat(answer.status()).isEqualTo(403);
        assertThat(answer.json().string("type")).contains("wrong-origin");
        assertThat(answer.headers().firstValue("Set-Cookie")).isEmpty();
    }

    @Test
    void cookieNeedsTheOwnOriginForChanges() {
        String cookie = cookie(api.key());

        assertThat(post("/create_session", session(), "Cookie", cookie).status())
                .as("no origin")
                .isEqualTo(403);
        assertThat(post("/create_session", session(), "Cookie", cookie, "Origin", OTHER_ORIGIN)
                        .status())
                .isEqualTo(403);
        assertThat(post("/create_session", session(), "Cookie", cookie, "Origin", "null")
                        .status())
                .isEqualTo(403);
        assertThat(post(
                                "/create_session",
                                session(),
                                "Cookie",
                                cookie,
                                "Origin",
                                ownOrigin,
                                "Sec-Fetch-Site",
                                "same-site")
                        .status())
                .isEqualTo(403);
        assertThat(post("/create_session", session(), "Authorization", "Bearer " + api.key(), "Origin", OTHER_ORIGIN)
                        .status())
                .as("a key in a header needs no origin")
                .isEqualTo(201);
    }

    @ParameterizedTest
    @CsvSource({
        "cross-site,cors,empty,403",
        "same-site,cors,empty,403",
        "cross-site,navigate,document,403",
        "none,cors,empty,403",
        "none,navigate,document,200",
        "same-origin,cors,empty,200",
        "same-origin,no-cors,image,200",
        "same-origin,no-cors,script,403",
        "same-origin,no-cors,worker,403",
    })
    void fetchMetadataDecidesWhetherTheCookieIsAccepted(String site, String mode, String destination, int status) {
        var answer = get(
                "/admin/keys",
                "Cookie",
                cookie(api.key()),
                "Sec-Fetch-Site",
                site,
                "Sec-Fetch-Mode",
                mode,
                "Sec-Fetch-Dest",
                destination);

        assertThat(answer.status()).isEqualTo(status);
    }

    @Test
    void contentReadWithACookieIsSandboxed() {
        String file = "/sandboxes/" + api.session() + "/files/page.html";
        api.put(file, "<script>alert(1)</script>");

        assertThat(get(file, "Cookie", cookie(api.key())).headers().firstValue("Content-Security-Policy"))
                .hasValue("sandbox");
        assertThat(get("/threads", "Cookie", cookie(api.key())).headers().firstValue("Content-Security-Policy"))
                .hasValue("default-src 'none'; frame-ancestors 'none'; sandbox");
        assertThat(api.get("/threads").headers().firstValue("Content-Security-Policy"))
                .isEmpty();
    }

    @Test
    void sessionCookieIsRejectedByPreviewsAndTheWorkerApi() {
        String cookie = cookie(api.key());
        String sandbox = api.session();

        assertThat(get("/sandboxes/" + sandbox + "/ports/3000/", "Cookie", cookie)
                        .status())
                .isEqualTo(401);
        assertThat(get("/api/v1/sandbox/task", "Cookie", cookie).status()).isEqualTo(401);
        String id = cookie.split("=")[1];
        assertThat(api.with(id).get(SESSION).status())
                .as("the cookie is not a key")
                .isEqualTo(401);
        assertThat(get("/sandboxes/" + sandbox + "/ports/3000/", "Cookie", "viv_preview=" + id)
                        .status())
                .isEqualTo(401);
    }

    @Test
    void signOutEndsTheSession() {
        String cookie = cookie(api.key());
        var answer = Api.send(
                with(plain(SESSION), "Cookie", cookie, "Origin", ownOrigin).DELETE());

        assertThat(answer.status()).isEqualTo(204);
        assertThat(answer.headers().firstValue("Set-Cookie").orElseThrow()).contains("viv_session=;", "Max-Age=0");
        assertThat(get(SESSION, "Cookie", cookie).status()).isEqualTo(401);
        assertThat(api.get("/admin/audit?limit=1000").text()).contains("signed_in", "signed_out");
    }

    @Test
    void revokedKeyEndsItsSessions() {
        var issued = api.post("/admin/keys", "{\"user_id\":\"ben\"}").json();
        String cookie = cookie(issued.string("key"));
        String kept = cookie(api.as("ben").key());
        assertThat(get(SESSION, "Cookie", cookie).status()).isEqualTo(200);
        api.method("DELETE", "/admin/keys/" + issued.string("key_id"));

        assertThat(get(SESSION, "Cookie", cookie).status()).isEqualTo(401);
        assertThat(get(SESSION, "Cookie", kept).status()).isEqualTo(200);
    }

    @Test
    void hundredAndFirstSessionOfAKeyEndsTheOldest() {
        String key = api.as("carl").key();
        String first = cookie(key);
        assertThat(get(SESSION, "Cookie", first).status()).isEqualTo(200);
        List<String> more = IntStream.range(0, 100).mapToObj(_ -> cookie(key)).toList();

        assertThat(get(SESSION, "Cookie", first).status()).isEqualTo(401);
        assertThat(more)
                .allSatisfy(each ->
                        assertThat(get(SESSION, "Cookie", each).status()).isEqualTo(200));
    }

    @Test
    void requestWithTwoSessionCookiesIsUnauthorized() {
        String both = cookie(api.key()) + "; " + cookie(api.key());

        assertThat(get(SESSION, "Cookie", both).status()).isEqualTo(401);
    }

    @ParameterizedTest
    @ValueSource(strings = {"viv_session=", "viv_session=x", "other=1", "viv_session=\"a\""})
    void invalidSessionCookieIsUnauthorized(String cookie) {
        assertThat(get(SESSION, "Cookie", cookie).status()).isEqualTo(401);
    }

    @Test
    void sessionSurvivesARestartButNotExpiryOrANewAdminKey() {
        try (var own = TestServer.start("--port", "0")) {
            String cookie = cookie(own, own.adminKey());
            String user = cookie(own, own.api().as("dora").key());
            own.restart();
            assertThat(get(own, SESSION, "Cookie", cookie).status()).isEqualTo(200);
            assertThat(get(own, SESSION, "Cookie", user).json().string("user_id"))
                    .isEqualTo("dora");
            own.restart(store -> store.write(
                    sql -> sql.update("update browser_sessions set expires_at = 1 where key_hash <> 'admin'")));
            assertThat(get(own, SESSION, "Cookie", user).status()).isEqualTo(401);
            assertThat(get(own, SESSION, "Cookie", cookie).status()).isEqualTo(200);
            own.restart(store -> store.write(sql -> sql.update("update browser_sessions set proof = 'other'")));
            assertThat(get(own, SESSION, "Cookie", cookie).status()).isEqualTo(401);
        }
    }

    @Test
    void cookieHasTheHostPrefixBehindHttps() {
        try (var own = TestServer.start("--public-url", "https://viv.example")) {
            String key = "{\"key\":\"" + own.adminKey() + "\"}";
            var plainHost = post(own, SESSION, key, "Origin", "http://viv.example");
            var answer = post(own, SESSION, key, "Origin", "https://viv.example");
            String set = answer.headers().firstValue("Set-Cookie").orElseThrow();

            assertThat(plainHost.status()).isEqualTo(403);
            assertThat(set).startsWith("__Host-viv_session=").endsWith("; Secure");
            String cookie = set.split(";")[0];
            assertThat(get(own, SESSION, "Cookie", cookie).status()).isEqualTo(200);
            assertThat(get(own, SESSION, "Cookie", cookie.substring("__Host-".length()))
                            .status())
                    .as("a neighbouring host could have planted a cookie without the prefix")
                    .isEqualTo(401);
        }
    }

    @Test
    void socketAcceptsTheCookieOnlyFromTheOwnOrigin() {
        String cookie = cookie(api.key());
        String sandbox = api.session();
        for (String path : List.of("/ws/sandboxes/" + sandbox, "/api/v1/ws/events")) {
            try (var socket = open(path, "Cookie", cookie, "Origin", ownOrigin)) {
                socket.send("{\"type\":\"auth\"}").await("connected");
            }
        }
        try (var shell = open("/sandboxes/" + sandbox + "/shell", "Cookie", cookie, "Origin", ownOrigin)) {
            shell.send("{\"type\":\"auth\"}").await("auth_ok");
        }
        for (String origin : List.of(OTHER_ORIGIN, "null")) {
            try (var socket = open("/ws/sandboxes/" + sandbox, "Cookie", cookie, "Origin", origin)) {
                assertThat(socket.send("{\"type\":\"auth\"}").awaitClose()).isEqualTo(4403);
            }
        }
        try (var socket = open("/ws/sandboxes/" + sandbox, "Cookie", cookie)) {
            assertThat(socket.send("{\"type\":\"auth\"}").awaitClose()).isEqualTo(4403);
        }
        try (var socket = open("/ws/sandboxes/" + sandbox, "Origin", ownOrigin)) {
            assertThat(socket.send("{\"type\":\"auth\"}").awaitClose()).isEqualTo(4401);
        }
        try (var socket = open("/ws/sandboxes/" + sandbox, "Cookie", cookie, "Origin", OTHER_ORIGIN)) {
            socket.auth(api.key(), "").await("connected");
        }
    }

    @Test
    void endOfSessionClosesItsSocket() {
        String cookie = cookie(api.key());
        try (var socket = open("/ws/sandboxes/" + api.session(), "Cookie", cookie, "Origin", ownOrigin)) {
            socket.send("{\"type\":\"auth\"}").await("connected");
            Api.send(with(plain(SESSION), "Cookie", cookie, "Origin", ownOrigin).DELETE());

            assertThat(socket.awaitClose()).isEqualTo(4401);
        }
    }

    @Test
    void signInsAndRejectionsAreAudited() {
        signIn("not-a-key");
        get("/admin/keys", "Cookie", cookie(api.key()), "Sec-Fetch-Site", "cross-site");

        await().untilAsserted(
                        () -> assertThat(api.get("/admin/audit?limit=1000").text())
                                .contains("\"signed_in\"", "POST /console/session", "wrong-origin", "GET /admin/keys"));
        assertThat(api.get("/admin/audit?limit=1000").text()).doesNotContain("not-a-key");
    }

    private ShellClient open(String path, String... headers) {
        return ShellClient.open(server, path, ShellClient.Reading.ALWAYS, headers);
    }

    private static String session() {
        return "{\"user_id\":\"u\",\"thread_id\":\"" + Api.thread() + "\"}";
    }

    private Api.Answer signIn(String key) {
        return post(SESSION, "{\"key\":\"" + key + "\"}", "Origin", ownOrigin);
    }

    private String cookie(String key) {
        return cookie(SERVER.get(), key);
    }

    private static String cookie(TestServer server, String key) {
        var answer = post(
                server,
                SESSION,
                "{\"key\":\"" + key + "\"}",
                "Origin",
                server.uri().toString());
        assertThat(answer.status()).as(answer.text()).isEqualTo(204);
        return answer.headers().firstValue("Set-Cookie").orElseThrow().split(";")[0];
    }

    private Api.Answer get(String path, String... headers) {
        return get(SERVER.get(), path, headers);
    }

    private static Api.Answer get(TestServer server, String path, String... headers) {
        return Api.send(with(HttpRequest.newBuilder(server.uri().resolve(path)), headers)
                .GET());
    }

    private Api.Answer post(String path, String json, String... headers) {
        return post(SERVER.get(), path, json, headers);
    }

    private static Api.Answer post(TestServer server, String path, String json, String... headers) {
        return Api.send(with(HttpRequest.newBuilder(server.uri().resolve(path)), headers)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(json)));
    }

    private HttpRequest.Builder plain(String path) {
        return HttpRequest.newBuilder(server.resolve(path));
    }

    private static HttpRequest.Builder with(HttpRequest.Builder request, String... headers) {
        return headers.length == 0 ? request : request.headers(headers);
    }
}
