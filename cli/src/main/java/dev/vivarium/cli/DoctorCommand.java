package dev.vivarium.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/// `viv doctor`: checks the connection to a sandbox and prints remedies.
@Command(
        name = "doctor",
        description = "Check the connection to the server, the key and this machine.",
        footer = {"", "Returns 0 unless a check failed. A warning is not a failure."})
final class DoctorCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    DoctorCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        var examination = new Examination(server.account(terminal));
        examination.run(this::print);
        return examination.hasFailed() ? ExitCode.FAILURE : 0;
    }

    private void print(Examination.Finding finding) {
        if (output.isJson()) {
            terminal.json(out -> {
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
        boolean coloured = output.isColoured(terminal.env(), terminal.ttys().out());
        String mark = coloured ? finding.verdict().colour() + word + "\u001b[0m" : word;
        terminal.out()
                .println(mark
                        + " ".repeat(6 - word.length())
                        + finding.check()
                        + " ".repeat(Math.max(1, 12 - finding.check().length()))
                        + Table.shown(finding.found()));
        if (!finding.remedy().isEmpty()) {
            terminal.out().println(" ".repeat(18) + "→ " + finding.remedy());
        }
        terminal.out().flush();
    }
}
