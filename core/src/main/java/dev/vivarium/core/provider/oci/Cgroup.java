package dev.vivarium.core.provider.oci;

import dev.vivarium.core.provider.Machine;
import dev.vivarium.model.Limits;
import java.util.List;

/// The cgroup of one machine, whichever version the host has. Thread-safe: the kernel keeps the state.
sealed interface Cgroup permits CgroupV1, CgroupV2 {
    /// Freezes every process and returns when all are.
    void freeze();

    void thaw();

    void limit(Limits limits);

    /// What the launcher is told so that it makes the group, bounds it, and starts the machine in it.
    List<String> launchOptions(Limits limits);

    Machine.Usage usage();

    /// Sends SIGKILL to every process in it, frozen or not.
    void kill();

    /// Reports whether no process is left.
    boolean isEmpty();

    /// Removes it; one that is not there is fine. Reports whether it is gone.
    boolean remove();
}
