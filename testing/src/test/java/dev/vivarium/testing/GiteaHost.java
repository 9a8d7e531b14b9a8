package dev.vivarium.testing;

import dev.vivarium.testbed.GiteaServer;
import java.net.URI;
import java.net.http.HttpRequest.BodyPublishers;

/// A real Gitea.
final class GiteaHost implements GitHost {
    private final GiteaServer server = GiteaServer.start();

    @Override
    public URI uri() {
        return server.uri();
    }

    @Override
    public String token() {
        return server.token();
    }

    @Override
    public String forge() {
        return "gitea";
    }

    @Override
    public String newRepository(String name) {
        var request = java.net.http.HttpRequest.newBuilder(uri().resolve("/api/v1/user/repos"))
                .header("Authorization", "token " + token())
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(
                        "{\"name\":\"" + name + "\",\"default_branch\":\"main\",\"private\":true}"));
        var answer = Api.send(request);
        if (answer.status() != 201) {
            throw new IllegalStateException(answer.text());
        }
        return uri() + "/" + GiteaServer.USER + "/" + name;
    }

    @Override
    public void close() {
        server.close();
    }
}
