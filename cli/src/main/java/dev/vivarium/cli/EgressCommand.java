package dev.vivarium.cli;

import dev.vivarium.json.EgressJson;
import dev.vivarium.model.Egress;
import dev.vivarium.sdk.EgressRules;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "egress",
        description = "Show or change the hosts that the sandbox of a thread may connect to.",
        footer = {
            "",
            "  viv egress t1                                  show the list; empty by default",
            "  viv egress t1 --allow a.example.com,*.b.example.com   add hosts, ports 80 and 443",
            "  viv egress t1 --deny a.example.com             remove a host and close its connections",
            "  viv egress t1 --none                           empty the list"
        })
final class EgressCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Option(names = "--allow", split = ",", paramLabel = "HOST", description = "Host to add, optionally with a port.")
    private List<String> allow = List.of();

    @Option(names = "--deny", split = ",", paramLabel = "HOST", description = "Entry to remove.")
    private List<String> deny = List.of();

    @Option(names = "--none", description = "Empty the list first.")
    private boolean none;

    @Parameters(index = "0", paramLabel = "THREAD", description = "Thread.")
    private String thread = "";

    EgressCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        EgressRules rules = viv.client().egress();
        EgressRules.AllowList list = rules.get(thread);
        if (none || !allow.isEmpty() || !deny.isEmpty()) {
            list = rules.set(thread, changed(list.egress()));
        }
        print(list);
        return 0;
    }

    private Egress changed(Egress present) {
        var rules = new LinkedHashSet<String>(none ? List.of() : present.texts());
        rules.addAll(Egress.of("--allow", allow).texts());
        Egress.of("--deny", deny).texts().forEach(rules::remove);
        return Egress.of("--allow", rules);
    }

    private void print(EgressRules.AllowList list) {
        if (viv.isJson()) {
            viv.json(out -> {
                out.writeStringProperty("thread_id", list.thread().value());
                out.writeStringProperty("sandbox_id", list.sandbox().value());
                EgressJson.EGRESS.writeFields(out, list.egress());
            });
        } else if (list.egress().isEmpty()) {
            viv.note("no hosts; to allow one:  viv egress " + thread + " --allow HOST");
        } else {
            list.egress().texts().forEach(viv::print);
        }
    }
}
