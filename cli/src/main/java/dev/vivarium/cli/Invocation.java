package dev.vivarium.cli;

import dev.vivarium.cli.TokenCache.IfAbsent;
import dev.vivarium.cli.tty.Printable;
import dev.vivarium.sdk.RemoteClient;
import dev.vivarium.sdk.SandboxConnection;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.time.InstantSource;
import java.util.function.Consumer;
import picocli.CommandLine.Mixin;
import tools.jackson.core.JsonGenerator;

/// Terminal of a command, and the options of all commands that use a server. Confined to one thread.
final class Invocation {
    private final Terminal terminal;

    @Mixin
    private final ServerOptions server = new ServerOptions();

    @Mixin
    private final OutputOptions output = new OutputOptions();

    Invocation(Terminal terminal) {
        this.terminal = terminal;
    }

    Terminal terminal() {
        return terminal;
    }

    OutputOptions output() {
        return output;
    }

    PrintStream out() {
        return terminal.out();
    }

    /// Prints a line of the result.
    void print(String line) {
        terminal.print(line);
    }

    /// Prints a JSON object that the server sent.
    void printJson(String object) {
        terminal.printJson(object);
    }

    /// Copies a file to standard output: its bytes, or text without control characters on a terminal.
    void copy(InputStream bytes) throws IOException {
        if (terminal.ttys().out()) {
            Printable.copy(bytes, out());
        } else {
            bytes.transferTo(out());
            out().flush();
        }
    }

    void note(String text) {
        terminal.note(text);
    }

    boolean isJson() {
        return output.isJson();
    }

    void json(Consumer<JsonGenerator> fields) {
        terminal.json(fields);
    }

    /// Reports whether the standard output is coloured.
    boolean isColoured() {
        return output.isColoured(terminal.env(), terminal.ttys().out());
    }

    Table table(String... names) {
        return new Table(terminal, output, names);
    }

    Account account() {
        return server.account(terminal);
    }

    RemoteClient client(Account account) {
        var client = RemoteClient.of(account.server(), account.requireKey());
        return account.owner().map(client::ofOwner).orElse(client);
    }

    RemoteClient client() {
        return client(account());
    }

    /// Returns a connection to the sandbox of the thread.
    SandboxConnection connect(String thread, IfAbsent ifAbsent) {
        return SandboxConnection.open(tokens(account()).source(thread, ifAbsent));
    }

    /// Tokens are cached by server, profile, key, user and owner, because another key may belong to another user,
    /// and another user may have a thread of the same name.
    TokenCache tokens(Account account) {
        String holder = account.profile() + "\n" + account.requireKey() + "\n"
                + account.user().orElse("") + "\n" + account.owner().orElse("");
        var directory = Directories.state(terminal.env()).resolve("passes");
        Consumer<String> notes = isJson() ? _ -> {} : this::note;
        return new TokenCache(client(account), directory, holder, account.user(), notes, InstantSource.system());
    }
}
