package dev.vivarium.sdk.local;

import dev.vivarium.sdk.SandboxClient;
import dev.vivarium.testing.SandboxClientContract;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class LocalOciClientTest extends SandboxClientContract {
    private static SandboxClient client;

    @BeforeAll
    static void open() {
        client = SandboxClient.local();
    }

    @AfterAll
    static void close() {
        client.close();
    }

    @Override
    protected SandboxClient client() {
        return client;
    }
}
