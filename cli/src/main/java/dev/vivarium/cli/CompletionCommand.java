package dev.vivarium.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(
        name = "completion",
        description = "Print a completion script for bash, zsh or fish.",
        footer = {
            "",
            "  bash:  source <(viv completion bash)        in ~/.bashrc",
            "  zsh:   viv completion zsh > \"$${fpath[1]}/_viv\"",
            "  fish:  viv completion fish > ~/.config/fish/completions/viv.fish"
        })
final class CompletionCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Parameters(index = "0", paramLabel = "SHELL", description = "bash, zsh or fish.")
    private Completion.Shell shell = Completion.Shell.BASH;

    CompletionCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        String script = Completion.of(new Commands(terminal).line("", "")).script(shell);
        if (output.isJson()) {
            terminal.json(out -> {
                out.writeStringProperty("shell", shell.toString());
                out.writeStringProperty("script", script);
            });
        } else {
            terminal.out().print(script);
        }
        return 0;
    }
}
