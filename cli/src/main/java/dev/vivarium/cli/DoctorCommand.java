package dev.vivarium.cli;

import dev.vivarium.cli.tty.Printable;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(
        name = "doctor",
        description = "Check the connection to the server, the key and this machine.",
        footer = {"", "Returns 0 unless a check failed. A warning is not a failure."})
final class DoctorCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    DoctorCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        var checks = new DoctorChecks(viv.account());
        checks.run(this::print);
        return checks.hasFailed() ? ExitCode.FAILURE : 0;
    }

    private void print(DoctorChecks.Finding finding) {
        if (viv.isJson()) {
            viv.json(out -> {
                out.writeStringProperty("check", finding.check());
                out.writeStringProperty("verdict", finding.verdict().toString());
                out.writeStringProperty("found", finding.found());
                if (!finding.remedy().isEmpty()) {
                    out.writeStringProperty("remedy", finding.remedy());
                }
            });
            return;
        }
        String word = finding.verdict().toString();
        boolean coloured = viv.isColoured();
        String mark = coloured ? finding.verdict().colour() + word + "\u001b[0m" : word;
        viv.out()
                .println(mark
                        + " ".repeat(6 - word.length())
                        + finding.check()
                        + " ".repeat(Math.max(1, 12 - finding.check().length()))
                        + Printable.text(finding.found()));
        if (!finding.remedy().isEmpty()) {
            viv.out().println(" ".repeat(18) + "→ " + Printable.text(finding.remedy()));
        }
        viv.out().flush();
    }
}
