package dev.vivarium.core.git;

import dev.vivarium.core.egress.OutboundHttp;
import dev.vivarium.model.RepositoryUrl;
import dev.vivarium.model.RunRepository;
import dev.vivarium.model.UserId;
import java.time.Duration;

/// Remotes of repositories, with the credentials of their users. Thread-safe.
public final class Remotes {
    private static final Duration LONGEST_CALL = Duration.ofMinutes(2);
    private static final Duration LONGEST_TRANSFER = Duration.ofHours(1);

    private final GitCredentials credentials;
    private final OutboundHttp http;
    private final Duration idle;

    /// @param idle longest time without data from a remote
    public Remotes(GitCredentials credentials, OutboundHttp http, Duration idle) {
        this.credentials = credentials;
        this.http = http;
        this.idle = idle;
    }

    /// Returns the remote of a repository. Fails if the credential does not exist or is for another host.
    public Remote of(UserId owner, String credential, RepositoryUrl url) {
        return new Remote(url, credentials.forRepository(owner, credential, url), http, this);
    }

    public Remote of(RunRepository work) {
        return of(
                work.owner(),
                work.repository().credentialName(),
                work.repository().url());
    }

    /// Limits of a request with a small response.
    OutboundHttp.Limits call() {
        return new OutboundHttp.Limits(idle, LONGEST_CALL);
    }

    /// Limits of the transfer of a pack.
    OutboundHttp.Limits transfer() {
        return new OutboundHttp.Limits(idle, LONGEST_TRANSFER);
    }
}
