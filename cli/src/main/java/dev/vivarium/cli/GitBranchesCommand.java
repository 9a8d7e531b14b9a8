package dev.vivarium.cli;

import dev.vivarium.sdk.Git;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(name = "branches", description = "List the branches of a repository, or delete one.")
final class GitBranchesCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Mixin
    private final RepositoryOptions repository = new RepositoryOptions();

    @Option(names = "--delete", paramLabel = "BRANCH", description = "Delete this branch.")
    private @Nullable String deleted;

    @Option(names = "--limit", paramLabel = "NUMBER", description = "Maximum number of branches (100).")
    private int limit = 100;

    @Option(
            names = {"-q", "--quiet"},
            description = "Only the names.")
    private boolean quiet;

    GitBranchesCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        Git git = viv.client().git();
        if (deleted != null) {
            git.deleteBranch(repository.selection(), deleted);
            printDeleted(deleted);
            return 0;
        }
        List<Git.Branch> branches = git.branches(repository.selection(), limit);
        if (viv.isJson()) {
            branches.forEach(branch -> viv.printJson(branch.json()));
        } else if (quiet) {
            branches.forEach(branch -> viv.print(branch.name()));
        } else {
            var table = viv.table("BRANCH", "COMMIT", "PROTECTED");
            branches.forEach(branch -> table.row(branch.name(), branch.commit(), branch.isProtected() ? "yes" : "no"));
            table.print();
        }
        return 0;
    }

    private void printDeleted(String name) {
        if (viv.isJson()) {
            viv.json(out -> {
                out.writeStringProperty("name", name);
                out.writeStringProperty("status", "deleted");
            });
        }
    }
}
