package dev.vivarium.core.sandbox;

import dev.vivarium.core.store.SandboxRow;

/// Components that start, connect, hibernate and end machines. Immutable.
record MachineOperations(
        Engine engine, Launch launch, GuestConnections connections, Termination termination, Hibernation hibernation) {
    /// A sandbox in the state `first`. Its row must have an owner.
    Sandbox sandbox(SandboxRow row, State first) {
        return new Sandbox(engine, connections, hibernation, row, first);
    }
}
