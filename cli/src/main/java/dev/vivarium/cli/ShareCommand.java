package dev.vivarium.cli;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.http.Transport;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// Invites somebody to a thread, with the most that they may do there; or shows who is, or takes it back.
@Command(
        name = "share",
        description = "Invite somebody to a thread, or see who was invited.",
        footer = {
            "",
            "  viv share t1 ben --scope shell:ro,fs:ro        ben may watch and read",
            "  viv share t1                                   who was invited",
            "  viv share t1 ben --remove                      and no longer is",
            "Scopes: fs:ro fs:rw shell shell:ro process snapshot."
        })
final class ShareCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Option(names = "--scope", split = ",", paramLabel = "SCOPE", description = "The most that they may do.")
    private List<String> scopes = List.of();

    @Option(names = "--remove", description = "Take the invitation back; what came of it ends at once.")
    private boolean remove;

    @Parameters(index = "0", paramLabel = "THREAD", description = "The conversation.")
    private String thread = "";

    @Parameters(index = "1", arity = "0..1", paramLabel = "USER", description = "Whom to invite.")
    private @Nullable String user;

    ShareCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        Transport http = server.http(terminal);
        String members = "/threads/" + Transport.segment(thread) + "/members";
        if (user == null) {
            list(http, members);
        } else if (remove) {
            http.delete(members + "/" + Transport.segment(user));
            if (output.isJson()) {
                terminal.json(out -> out.writeStringProperty("status", "removed"));
            }
        } else {
            invite(http, members, user);
        }
        return 0;
    }

    private void invite(Transport http, String members, String invited) {
        if (scopes.isEmpty()) {
            throw new SandboxException(
                    new Failure.InvalidRequest("--scope", "is missing: say what they may do, such as shell:ro,fs:ro"));
        }
        JsonFields member = http.post(
                members,
                out -> {
                    out.writeStringProperty("user_id", invited);
                    out.writeArrayPropertyStart("scopes");
                    scopes.forEach(out::writeString);
                    out.writeEndArray();
                },
                fields -> fields);
        if (output.isJson()) {
            print(member);
        } else {
            terminal.note(invited + " may now use " + thread + ":  viv shell " + thread);
        }
    }

    private void list(Transport http, String path) {
        JsonFields answer = http.get(path, fields -> fields);
        if (output.isJson()) {
            answer.objects("members").forEach(this::print);
            return;
        }
        var table = new Table(terminal, output, "USER", "SCOPES", "INVITED");
        table.row(answer.string("owner"), "owner", "");
        answer.objects("members")
                .forEach(member ->
                        table.row(member.string("user_id"), scopes(member), table.time(member.time("invited_at"))));
        table.print();
    }

    private static String scopes(JsonFields member) {
        return String.join(" ", member.findStrings("scopes").orElse(List.of()));
    }

    private void print(JsonFields member) {
        terminal.json(out -> {
            out.writeStringProperty("user_id", member.string("user_id"));
            out.writeArrayPropertyStart("scopes");
            member.findStrings("scopes").orElse(List.of()).forEach(out::writeString);
            out.writeEndArray();
            Json.time(out, "invited_at", member.time("invited_at"));
        });
    }
}
