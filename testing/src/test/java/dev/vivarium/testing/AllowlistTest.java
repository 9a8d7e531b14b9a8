package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.model.SandboxId;
import java.net.http.HttpRequest.BodyPublishers;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// With a command allow-list, a listed name runs only the system program of that name.
@Timeout(120)
class AllowlistTest {
    private static final String MARK = "hijacked-4711";
    private static final String IMPOSTOR = "#!/bin/sh\necho " + MARK + "\n";

    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with("--command-policy", "allowlist");

    private final Api api = SERVER.api();
    private String session = "";

    @BeforeEach
    void open() {
        session = api.session();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "PATH",
                "LD_PRELOAD",
                "BASH_ENV",
                "ENV",
                "IFS",
                "SHELLOPTS",
                "BASHOPTS",
                "PS4",
                "PROMPT_COMMAND",
                "GLOBIGNORE",
                "PYTHONPATH",
                "PYTHONSTARTUP",
                "PERL5OPT",
                "PERL5LIB",
                "RUBYOPT",
                "NODE_OPTIONS",
                "GIT_SSH_COMMAND",
                "GIT_EXTERNAL_DIFF",
                "GIT_PAGER",
                "PAGER",
                "EDITOR",
                "VISUAL"
            })
    void variablesThatAffectExecutionAreRejectedByName(String name) {
        String env = "\"env\":{\"" + name + "\":\"/workspace\"}";
        String exec = "/sandboxes/" + session + "/exec";

        assertRejected(api.post("/execute", Api.command(session, "ls", env)), 400, name);
        assertRejected(api.post(exec, "{\"command\":\"ls\"," + env + "}"), 400, name);
        assertRejected(api.post(exec, "{\"command\":[\"ls\"],\"detach\":true," + env + "}"), 400, name);
        assertRejected(
                api.post("/create_session", "{\"user_id\":\"u\",\"thread_id\":\"" + Api.thread() + "\"," + env + "}"),
                400,
                name);
        assertRejected(
                api.post(
                        "/api/v1/sandboxes",
                        "{\"task\":{\"title\":\"x\"},\"runtime\":\"command\",\"command\":[\"true\"],\"thread_id\":\""
                                + Api.thread() + "\"," + env + "}"),
                422,
                name);
    }

    @Test
    void otherVariablesAreAccepted() {
        var answer = api.post("/execute", Api.command(session, "date +%Z", "\"env\":{\"TZ\":\"UTC\"}"));

        assertThat(answer.json().string("stdout")).isEqualTo("UTC\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "./ls",
                "/workspace/ls",
                "/bin/ls",
                "PATH=. ls",
                "PATH=.:$PATH ls",
                "BASH_ENV=./ls ls",
                "LD_PRELOAD=./x.so ls",
                "env PATH=. ls",
                "export PATH=.; ls",
                "alias ls=id; ls",
                "ls() { id; }; ls",
                "command ls",
                "exec ./ls",
                ". ./ls"
            })
    void otherFormsOfAListedNameAreRejected(String line) {
        uploadImpostor();

        var answer = api.post("/execute", Api.command(session, line));

        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.text()).doesNotContain(MARK + "\\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"ls\"", "[\"ls\"]"})
    void systemProgramRunsDespiteAStoredPath(String command) {
        try (var server = TestServer.start("--command-policy", "allowlist")) {
            String id = server.api().session();
            upload(server.api(), id, "ls");
            upload(server.api(), id, "pager");
            String workspace = server.sandboxes().require(new SandboxId(id)).workspace();
            server.restart(store -> store.write(sql -> sql.update(
                    "update sandboxes set env = ? where id = ?",
                    "PATH=" + workspace + ":/usr/bin&GIT_PAGER=" + workspace + "/pager",
                    id)));
            var answer = server.api().post("/sandboxes/" + id + "/exec", "{\"command\":" + command + "}");

            assertThat(answer.json().string("stdout")).isEqualTo("ls\npager\n");
            assertThat(server.api()
                            .execute(id, "python3 -c 'import os; print(os.environ.get(\"GIT_PAGER\"))'")
                            .string("stdout"))
                    .isEqualTo("None\n");
        }
    }

    /// Bash reads `.bashrc` if it takes its parent process for `sshd`.
    @ParameterizedTest
    @ValueSource(strings = {"", ",\"stdin\":\"x\""})
    void startupFilesOfTheWorkspaceAreNotRead(String more) {
        assertThat(api.upload(session, ".bashrc", "echo " + MARK + "\n").status())
                .isEqualTo(200);
        String env = "\"env\":{\"SSH_CLIENT\":\"::1 1 22\",\"SHLVL\":\"0\"}" + more;

        var answer = api.post("/execute", Api.command(session, "echo fine", env));

        assertThat(answer.json().string("stdout")).isEqualTo("fine\n");
    }

    @Test
    void commandIsLoggedAsSent() {
        api.execute(session, "echo as sent");

        await().until(() -> api.get("/api/v1/sandboxes/" + session + "/events?type=command.")
                .text()
                .contains("\"command\":\"echo as sent\""));
    }

    @Test
    void anEmptyListAllowsNothing() {
        try (var server = TestServer.start("--command-policy", "allowlist", "--allowed-commands", "")) {
            var answer = server.api().post("/execute", Api.command(server.api().session(), "ls"));

            assertRejected(answer, 400, "Allowed: nothing");
        }
    }

    private void uploadImpostor() {
        upload(api, session, "ls");
    }

    private static void upload(Api to, String id, String name) {
        assertThat(to.upload(id, name, IMPOSTOR).status()).isEqualTo(200);
        var mode = to.request("/sandboxes/" + id + "/files/" + name)
                .header("X-File-Mode", "755")
                .PUT(BodyPublishers.ofString(IMPOSTOR));
        assertThat(Api.send(mode).status()).isLessThan(300);
    }

    private static void assertRejected(Api.Answer answer, int status, String word) {
        assertThat(answer.status()).as(answer.text()).isEqualTo(status);
        assertThat(answer.text()).contains(word);
    }
}
