package dev.vivarium.cli;

import dev.vivarium.json.Json;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.Sharing;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "share",
        description = "Add, list or remove the members of a thread.",
        footer = {
            "",
            "  viv share t1 ben --scope shell:ro,fs:ro        ben may watch and read",
            "  viv share t1                                   list the members",
            "  viv share t1 ben --remove                      remove ben",
            "Scopes: fs:ro fs:rw shell shell:ro process snapshot."
        })
final class ShareCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Option(names = "--scope", split = ",", paramLabel = "SCOPE", description = "Maximum scopes of the member.")
    private List<String> scopes = List.of();

    @Option(names = "--remove", description = "Remove the member and revoke their tokens.")
    private boolean remove;

    @Parameters(index = "0", paramLabel = "THREAD", description = "Thread.")
    private String thread = "";

    @Parameters(index = "1", arity = "0..1", paramLabel = "USER", description = "User.")
    private @Nullable String user;

    ShareCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        Sharing sharing = viv.client().sharing();
        if (user == null) {
            list(sharing.members(thread));
        } else if (remove) {
            sharing.remove(thread, user);
            if (viv.isJson()) {
                viv.json(out -> out.writeStringProperty("status", "removed"));
            }
        } else {
            invite(sharing, user);
        }
        return 0;
    }

    private void invite(Sharing sharing, String invited) {
        if (scopes.isEmpty()) {
            throw new SandboxException(new Failure.InvalidRequest("--scope", "is missing, such as shell:ro,fs:ro"));
        }
        Sharing.Member member = sharing.invite(thread, invited, scopes);
        if (viv.isJson()) {
            print(member);
        } else {
            viv.note(invited + " may now use " + thread + ":  viv shell " + thread);
        }
    }

    private void list(Sharing.Members members) {
        if (viv.isJson()) {
            members.members().forEach(this::print);
            return;
        }
        var table = viv.table("USER", "SCOPES", "INVITED");
        table.row(members.owner().value(), "owner", "");
        members.members()
                .forEach(member -> table.row(
                        member.user().value(), String.join(" ", member.scopes()), table.time(member.invitedAt())));
        table.print();
    }

    private void print(Sharing.Member member) {
        viv.json(out -> {
            out.writeStringProperty("user_id", member.user().value());
            out.writeArrayPropertyStart("scopes");
            member.scopes().forEach(out::writeString);
            out.writeEndArray();
            Json.time(out, "invited_at", member.invitedAt());
        });
    }
}
