package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.access.Scope;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.Status;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ViewApiTest {
    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with();

    private final Api api = SERVER.api();
    private final String session = api.session();

    @Test
    void workspaceIsListedAsATreeSortedByName() {
        run("mkdir -p b/c/d && echo x > b/c/d/deep && echo 12345 > a && ln -s a link");

        var tree = get("/files?depth=2").json();
        assertThat(tree.objects("files")).extracting(e -> e.string("path")).containsExactly("a", "b", "b/c", "link");
        assertThat(tree.objects("files"))
                .extracting(e -> e.string("type"))
                .containsExactly("file", "directory", "directory", "link");
        assertThat(tree.objects("files").getFirst().integer("size_bytes")).isEqualTo(6);
        assertThat(tree.integer("total_files")).isEqualTo(3);
        assertThat(get("/files?path=b/c&depth=9").json().objects("files"))
                .extracting(e -> e.string("name"))
                .containsExactly("d", "deep");
        assertThat(get("/files?path=/workspace/b&recursive=true").json().objects("files"))
                .extracting(e -> e.string("path"))
                .containsExactly("b/c", "b/c/d", "b/c/d/deep");
        assertThat(get("/files?path=/workspace&recursive=false").json().objects("files"))
                .extracting(e -> e.integer("size"))
                .hasSize(3)
                .contains(6L);
    }

    @Test
    void fileIsReturnedWithItsHashAndBinaryContentAsBase64() {
        run("printf 'grüß' > text; printf '\\377\\0' > binary");

        var text = get("/files/text").json();
        assertThat(text.string("content")).isEqualTo("grüß");
        assertThat(text.string("encoding")).isEqualTo("utf-8");
        assertThat(text.integer("size_bytes")).isEqualTo(6);
        assertThat(text.string("sha256")).hasSize(64);
        assertThat(text.integer("size")).isEqualTo(6);
        assertThat(text.string("hash")).isEqualTo(text.string("sha256"));
        var binary = get("/files/binary").json();
        assertThat(binary.string("encoding")).isEqualTo("base64");
        assertThat(binary.string("content")).isEqualTo("/wA=");
    }

    @Test
    void largeFileIsRejectedWithItsDownloadPath() {
        run("truncate -s 2M large");

        Api.Answer answer = get("/files/large");
        assertThat(answer.status()).isEqualTo(413);
        assertThat(answer.text()).contains("/sandboxes/" + session + "/files/large");
    }

    @ParameterizedTest
    @CsvSource({
        "/files?depth=0,400",
        "/files?depth=x,400",
        "/files?recursive=perhaps,400",
        "/files?recursive=true&depth=2,400",
        "/files?path=../etc,400",
        "/files?path=nowhere,404",
        "/files?more=1,400",
        "/files/nowhere,404",
        "/files/../../etc/passwd,400",
        "/files/nowhere?at_seq=3,404",
        "/files/nowhere?at_seq=x,400",
        "/diff,400",
        "/diff?path=nowhere,404",
        "/terminal?lines=0,400",
        "/terminal?lines=-1,400",
    })
    void invalidRequestsAreRejected(String path, int status) {
        Api.Answer answer = get(path);

        assertThat(answer.status()).as(answer.text()).isEqualTo(status);
    }

    @Test
    void fileIsDiffedBetweenAnyTwoSequenceNumbers() {
        putAtomically("one\\n", "f");
        long first = awaitEvent("file.created", "f");
        putAtomically("one\\ntwo\\n", "f");
        long second = awaitEvent("file.modified", "f");
        run("rm f");
        long third = awaitEvent("file.deleted", "f");
        putAtomically("three\\n", "f");
        await().untilAsserted(() -> assertThat(events("file.created")).hasSize(2));

        assertThat(get("/files/f?at_seq=" + first).json().string("content")).isEqualTo("one\n");
        assertThat(get("/files/f?at_seq=" + second).json().string("content")).isEqualTo("one\ntwo\n");
        assertThat(get("/files/f?at_seq=" + third).status()).isEqualTo(404);
        assertThat(diff(first, second)).contains("@@ -1,1 +1,2 @@\n one\n+two\n");
        assertThat(diff(0, second)).startsWith("--- /dev/null\n").contains("+one\n+two\n");
        assertThat(diff(second, third)).contains("+++ /dev/null\n", "-one\n-two\n");
        assertThat(get("/diff?path=f&from_seq=" + first + "&to_seq=" + first)
                        .json()
                        .flag("changed"))
                .isFalse();
        assertThat(get("/diff?path=f&from_seq=" + first).json().string("diff")).contains("-one\n+three\n");
    }

    @Test
    void terminalShowsCommandOutputAsPlainLines() {
        run("printf '\\033[31mred\\033[0m\\n'; printf 'half'");
        run("echo whole; echo oops >&2");

        await().untilAsserted(() -> assertThat(lines("/terminal"))
                .contains("red", "half", "whole", "oops")
                .contains("$ echo whole; echo oops >&2"));
        assertThat(lines("/terminal?lines=2")).hasSize(2);
    }

    @Test
    void terminalOutlivesTheSandboxButFilesDoNot() {
        run("echo last words");
        putAtomically("x\\n", "f");
        long seq = awaitEvent("file.created", "f");
        await().untilAsserted(() -> assertThat(lines("/terminal")).contains("last words"));
        api.post("/cleanup", "{\"session_id\":\"" + session + "\"}");

        assertThat(lines("/terminal")).contains("last words");
        assertThat(get("/files").status()).isEqualTo(404);
        assertThat(get("/files/f").status()).isEqualTo(404);
        assertThat(get("/files/f?at_seq=" + seq).json().string("content")).isEqualTo("x\n");
        assertThat(api.as("stranger").get(path("/terminal")).status()).isEqualTo(404);
    }

    @Test
    void eachViewNeedsItsScope() {
        Api files = api.with(SERVER.get().token(session, Scope.FS_RO));
        Api shell = api.with(SERVER.get().token(session, Scope.SHELL_RO));

        assertThat(files.get(path("/files")).status()).isEqualTo(200);
        assertThat(files.get(path("/terminal")).status()).isEqualTo(403);
        assertThat(shell.get(path("/files")).status()).isEqualTo(403);
        assertThat(shell.get(path("/diff?path=f")).status()).isEqualTo(403);
        assertThat(shell.get(path("/terminal")).status()).isEqualTo(200);
    }

    @Test
    void viewsDoNotWakeAPausedSandbox() {
        api.method("POST", "/sandboxes/" + session + "/pause");

        assertThat(get("/files").status()).isEqualTo(409);
        assertThat(get("/terminal").status()).isEqualTo(200);
        assertThat(SERVER.get()
                        .sandboxes()
                        .require(new SandboxId(session))
                        .info()
                        .status())
                .isEqualTo(Status.PAUSED);
    }

    @Test
    void socketReturnsFilesAndTerminal() {
        run("mkdir d; echo hello | tee d/f");
        await().untilAsserted(() -> assertThat(lines("/terminal")).contains("hello"));
        var uri = SERVER.get().uri();
        try (var socket = ShellClient.open(uri, "/ws/sandboxes/" + session, ShellClient.Reading.ALWAYS)) {
            socket.auth(api.key(), "");
            socket.send("{\"type\":\"command\",\"command\":\"request_files\",\"payload\":{\"path\":\"d\"}}");
            assertThat(socket.await("files").objects("files").getFirst().string("path"))
                    .isEqualTo("d/f");
            socket.send("{\"type\":\"command\",\"command\":\"request_terminal\",\"payload\":{\"lines\":1}}");
            assertThat(socket.await("terminal").optionalStrings("lines").orElseThrow())
                    .containsExactly("hello");
        }
        String token = SERVER.get().token(session, Scope.SHELL_RO);
        try (var socket = ShellClient.open(uri, "/ws/sandboxes/" + session, ShellClient.Reading.ALWAYS)) {
            socket.auth(token, "");
            socket.send("{\"type\":\"command\",\"command\":\"request_files\"}");
            assertThat(socket.await("error").string("message")).contains("fs:ro");
        }
    }

    private String diff(long from, long to) {
        return get("/diff?path=f&from_seq=" + from + "&to_seq=" + to).json().string("diff");
    }

    private long awaitEvent(String type, String path) {
        await().untilAsserted(() -> assertThat(events(type))
                .anySatisfy(
                        e -> assertThat(e.object("event_data").string("path")).isEqualTo(path)));
        return events(type).getLast().integer("seq");
    }

    private List<JsonFields> events(String type) {
        return get("/events?type=" + type).json().objects("events");
    }

    private List<String> lines(String view) {
        return get(view).json().optionalStrings("lines").orElseThrow();
    }

    private Api.Answer get(String view) {
        return api.get(path(view));
    }

    private String path(String view) {
        return "/api/v1/sandboxes/" + session + view;
    }

    /// Writes a file in one step, so that a watcher never sees it half written.
    private void putAtomically(String text, String path) {
        run("mkdir -p .vivarium && printf '" + text + "' > .vivarium/new && mv .vivarium/new " + path);
    }

    private void run(String script) {
        assertThat(api.execute(session, script).integer("exit_code")).isZero();
    }
}
