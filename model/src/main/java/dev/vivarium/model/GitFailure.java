package dev.vivarium.model;

/// Failures of git repositories, their hosts and their credentials. Immutable.
public sealed interface GitFailure extends Failure {
    /// The caller has no stored credential of that name.
    record NoSuchCredential(String name) implements GitFailure {
        @Override
        public String sentence() {
            return "there is no git credential '" + name + "'; POST /api/v1/git/credentials stores one";
        }
    }

    /// The run works on no repository.
    record NoRepository(String run) implements GitFailure {
        @Override
        public String sentence() {
            return "run " + run + " has no repository; start it with the field repository";
        }
    }

    /// A branch, a commit or a pull request does not exist on the remote.
    record NotOnRemote(String what) implements GitFailure {
        @Override
        public String sentence() {
            return what + " does not exist on the remote, or the credential does not permit to read it";
        }
    }

    /// The remote refused the request.
    record RemoteRefused(String host, String reason) implements GitFailure {
        @Override
        public String sentence() {
            return host + " refused the request: " + reason;
        }
    }

    /// The remote cannot be reached, or its response is invalid.
    record RemoteFailed(String host, String reason) implements GitFailure {
        @Override
        public String sentence() {
            return host + " failed: " + reason + "; try again later";
        }
    }

    /// The remote did not respond in time.
    record RemoteTimedOut(String host, long seconds) implements GitFailure {
        @Override
        public String sentence() {
            return host + " did not respond within " + seconds + " s; try again later";
        }
    }

    /// A git command in the sandbox failed.
    record GitCommandFailed(String step, String output) implements GitFailure {
        @Override
        public String sentence() {
            return step + " failed: " + output;
        }
    }
}
