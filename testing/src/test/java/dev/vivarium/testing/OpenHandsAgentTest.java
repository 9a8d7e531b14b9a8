package dev.vivarium.testing;

class OpenHandsAgentTest extends RealAgentContract {
    OpenHandsAgentTest() {
        super("openhands");
    }
}
