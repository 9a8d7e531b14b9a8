package dev.vivarium.model;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import java.text.Normalizer;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/// Git repository that an agent works on. Immutable.
///
/// @param base       branch that the work starts from; the default branch of the remote if absent
/// @param branch     branch of the work; made from ticket and title if absent
/// @param depth      number of commits to clone; 0 for all
public record Repository(
        RepositoryUrl url,
        Optional<BranchName> base,
        Optional<BranchName> branch,
        Optional<String> ticket,
        Credential credential,
        int depth,
        Optional<OnSuccess> onSuccess) {
    public static final int DEPTH = 50;

    private static final int MAX_DEPTH = 1_000_000;
    private static final int MAX_TICKET = 64;
    private static final int MAX_SLUG = 40;
    private static final Pattern TICKET = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_#-]*");

    /// Credential for the remote.
    public sealed interface Credential {
        /// A stored credential of the owner.
        record Named(String name) implements Credential {}

        /// A credential of a request. The server stores it before it stores the repository.
        record Inline(String token, Optional<String> username, Optional<GitCredential.Forge> forge)
                implements Credential {
            public Inline {
                GitCredential.requireToken(token);
            }

            /// Omits the token.
            @Override
            public String toString() {
                return "Inline[***]";
            }
        }
    }

    /// Action of the server after a run has completed.
    public enum OnSuccess implements TextEnum {
        /// Commits all changes and pushes the branch.
        PUSH,
        /// Pushes, and opens a pull request.
        PULL_REQUEST
    }

    public Repository {
        require(depth >= 0 && depth <= MAX_DEPTH, "repository.depth", "must be 0 to " + MAX_DEPTH);
        ticket.ifPresent(Repository::requireTicket);
        if (base.isPresent()) {
            require(!base.equals(branch), "repository.branch", "must not be the base");
        }
    }

    private static void requireTicket(String text) {
        require(
                text.length() <= MAX_TICKET && TICKET.matcher(text).matches(),
                "repository.ticket",
                "must be 1 to " + MAX_TICKET + " characters of letters, digits and '_#-', such as TICKET-456");
    }

    /// Returns the name of the stored credential. Fails if the server has not stored it yet.
    public String credentialName() {
        return switch (credential) {
            case Credential.Named(String name) -> name;
            case Credential.Inline _ -> throw new IllegalStateException("the credential is not stored");
        };
    }

    /// Returns the repository with a stored credential.
    public Repository withCredential(String name) {
        return new Repository(url, base, branch, ticket, new Credential.Named(name), depth, onSuccess);
    }

    /// Returns the branch of the work of a task: `feature/TICKET-456-short-title`.
    public BranchName branchOf(TaskId task, String title) {
        return branch.orElseGet(() -> {
            String slug = slug(title);
            String name = "feature/" + ticket.orElse(task.value()) + (slug.isEmpty() ? "" : "-" + slug);
            return BranchName.of("repository.branch", name);
        });
    }

    private static String slug(String title) {
        String plain = Normalizer.normalize(title, Normalizer.Form.NFKD)
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^\\x00-\\x7f]", "")
                .replaceAll("[^a-z0-9]+", "-");
        String text = plain.substring(0, Math.min(MAX_SLUG, plain.length()));
        return text.replaceAll("^-+|-+$", "");
    }
}
