package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Contract of a provider with isolation, tested from inside a machine that shares the host's kernel.
///
/// A canary on the host detects escapes, not an error code.
public abstract class IsolationContract extends LimitsContract {
    /// System calls of x86_64 that allow an escape or reach rarely tested parts of the kernel.
    private static final Map<String, Integer> REJECTED = Map.ofEntries(
            Map.entry("ptrace", 101),
            Map.entry("ustat", 136),
            Map.entry("mount", 165),
            Map.entry("init_module", 175),
            Map.entry("io_setup", 206),
            Map.entry("kexec_load", 246),
            Map.entry("add_key", 248),
            Map.entry("request_key", 249),
            Map.entry("keyctl", 250),
            Map.entry("unshare", 272),
            Map.entry("perf_event_open", 298),
            Map.entry("open_by_handle_at", 304),
            Map.entry("setns", 308),
            Map.entry("process_vm_readv", 310),
            Map.entry("bpf", 321),
            Map.entry("userfaultfd", 323),
            Map.entry("io_uring_setup", 425),
            Map.entry("open_tree", 428),
            Map.entry("fsopen", 430),
            Map.entry("clone3", 435),
            Map.entry("pidfd_getfd", 438),
            Map.entry("cachestat", 451));

    private static final List<String> MASKED = List.of(
            "kcore",
            "keys",
            "timer_list",
            "kallsyms",
            "kmsg",
            "config.gz",
            "interrupts",
            "cmdline",
            "diskstats",
            "partitions");

    /// Opens as many watches as possible, prints their number and keeps them open in the background.
    private static final String HOLD_ALL_WATCHES = """
            perl -e 'while (syscall(294, 0) >= 0) { $n++ } print "$n\\n"; close STDOUT; sleep 1000' > held &
            until [ -s held ]; do sleep 0.01; done; cat held
            """;

    private static final String ONE_WATCH = "perl -e 'print syscall(294, 0) >= 0 ? \"open\" : $!'";

    private static final String HOLD_ALL_TERMINALS = """
            perl -e 'while (open($h[$n], "+<", "/dev/ptmx")) { $n++ } print "$n\\n"; close STDOUT; sleep 1000' > held &
            until [ -s held ]; do sleep 0.01; done; cat held
            """;

    @Test
    void commandHasNoPrivileges() {
        try (var box = start()) {
            var status = box.output("grep -E '^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp|Uid):' /proc/self/status");
            assertThat(status.replaceAll("\\s+", " "))
                    .contains(
                            "Uid: 1000 1000 1000 1000",
                            "CapInh: 0000000000000000",
                            "CapPrm: 0000000000000000",
                            "CapEff: 0000000000000000",
                            "CapBnd: 0000000000000000",
                            "CapAmb: 0000000000000000",
                            "NoNewPrivs: 1",
                            "Seccomp: 2");
        }
    }

    @Test
    void eachMachineHasItsOwnUserIds() {
        try (var one = start();
                var other = start()) {
            var range = one.output("cat /proc/self/uid_map").strip().split("\\s+");
            assertThat(range[0]).isEqualTo("0");
            assertThat(Long.parseLong(range[1])).isGreaterThanOrEqualTo(1 << 20);
            assertThat(range[2]).isEqualTo("65536");
            assertThat(other.output("cat /proc/self/uid_map").strip().split("\\s+")[1])
                    .isNotEqualTo(range[1]);
        }
    }

    @Test
    void hostFilesAreUnreachable() throws IOException {
        var canary = Files.createTempFile(home, "canary", ".txt");
        Files.writeString(canary, "CANARY");
        try (var box = start()) {
            var attempts = box.output("""
                    cat %1$s /proc/1/root%1$s /proc/self/root%1$s /proc/1/cwd%1$s ../../../../../../..%1$s
                    for p in /proc/[0-9]*; do cat $p/root%1$s $p/cwd%1$s; done
                    for d in / /tmp /var /opt /root /home /mnt /srv; do grep -rs CANARY $d --include='canary*'; done
                    ln -s %1$s link; cat link; ln %1$s hard; cat hard; echo done
                    """.formatted(canary));
            assertThat(attempts).endsWith("done").doesNotContain("CANARY");
        }
        assertThat(Files.readString(canary)).isEqualTo("CANARY");
    }

    @Test
    void onlyTheLoopbackInterfaceExists() {
        try (var box = start()) {
            assertThat(box.output("tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '"))
                    .isEqualTo("lo");
            assertThat(box.output("echo > /dev/tcp/192.0.2.1/80")).contains("Network is unreachable");
        }
    }

    @Test
    void onlyTheWorkspaceAndScratchSpaceAreWritable() {
        try (var box = start()) {
            for (var directory : List.of("/", "/usr", "/usr/bin", "/etc", "/root", "/var", "/run", "/dev", "/sys")) {
                assertThat(box.run("touch " + directory + "/x").exitCode())
                        .as(directory)
                        .isNotZero();
            }
            for (var directory : List.of("/workspace", "/tmp", "/dev/shm")) {
                assertThat(box.run("touch " + directory + "/x").exitCode())
                        .as(directory)
                        .isZero();
            }
        }
    }

    @Test
    void hostInformationIsMasked() {
        try (var box = start()) {
            for (var name : MASKED) {
                assertThat(box.run("head -c 100 /proc/" + name).stdout())
                        .as(name)
                        .isEmpty();
            }
            assertThat(box.output("ls /sys /proc/acpi /proc/scsi /proc/fs /proc/bus 2>/dev/null | grep -v :"))
                    .isBlank();
        }
    }

    @Test
    void kernelSettingsCannotBeChanged() {
        try (var box = start()) {
            for (var name :
                    List.of("sys/kernel/core_pattern", "sys/kernel/modprobe", "sysrq-trigger", "1/oom_score_adj")) {
                assertThat(box.run("echo x > /proc/" + name).exitCode())
                        .as(name)
                        .isNotZero();
            }
        }
    }

    @Test
    void dangerousSystemCallsAreRejected() {
        try (var box = start()) {
            REJECTED.forEach((name, number) -> assertThat(
                            box.output("perl -e 'print syscall(%d, 0, 0, 0, 0, 0) == -1 ? 0 + $! : \"allowed\"'"
                                    .formatted(number)))
                    .as(name)
                    .isIn("1", "38"));
        }
    }

    @Test
    void onlyCommonSocketTypesAreAllowed() {
        try (var box = start()) {
            for (int family : new int[] {17, 31, 38, 40}) {
                assertThat(box.output("perl -e 'socket($s, %d, 1, 0) and print \"allowed\"'".formatted(family)))
                        .as("family %d", family)
                        .isEmpty();
            }
            for (var unusual : List.of("3, 1", "1, 132", "5, 132", "5, 0", "6, 0", "2, 136", "1, 262")) {
                assertThat(box.output("perl -e 'socket($s, 2, %s) and print \"allowed\"'".formatted(unusual)))
                        .as(unusual)
                        .isEmpty();
            }
            assertThat(box.output("perl -e 'socket($s, 2, 1, 0) and print \"allowed\"'"))
                    .isEqualTo("allowed");
            for (int family : new int[] {2, 10, 16, 40}) {
                assertThat(box.output("perl -e 'socketpair($a, $b, %d, 1, 0) or print 0 + $!'".formatted(family)))
                        .as("error of a pair of family %d", family)
                        .isEqualTo("97");
            }
            assertThat(box.output("perl -e 'socketpair($a, $b, 1, 1, 0) and print \"allowed\"'"))
                    .isEqualTo("allowed");
        }
    }

    @Test
    void legacySystemCallEntryIsBlocked() {
        try (var box = start()) {
            box.run("echo " + Base64.getEncoder().encodeToString(legacySystemCallProgram())
                    + " | base64 -d > old; chmod +x old");
            assertThat(box.run("./old").exitCode()).isNotZero();
        }
    }

    /// Returns an ELF program that calls `getpid` by `int 0x80` and then exits with zero.
    private static byte[] legacySystemCallProgram() {
        byte[] code = {
            (byte) 0xb8, 20, 0, 0, 0, (byte) 0xcd, (byte) 0x80, (byte) 0xb8, 60, 0, 0, 0, 0x31, (byte) 0xff, 0x0f, 0x05
        };
        int headers = 64 + 56;
        var elf = ByteBuffer.allocate(headers + code.length).order(ByteOrder.LITTLE_ENDIAN);
        elf.put(new byte[] {0x7f, 'E', 'L', 'F', 2, 1, 1, 0}).putLong(0);
        elf.putShort((short) 2)
                .putShort((short) 62)
                .putInt(1)
                .putLong(0x400000 + headers)
                .putLong(64)
                .putLong(0);
        elf.putInt(0)
                .putShort((short) 64)
                .putShort((short) 56)
                .putShort((short) 1)
                .putShort((short) 0);
        elf.putShort((short) 0).putShort((short) 0);
        elf.putInt(1).putInt(5).putLong(0).putLong(0x400000).putLong(0x400000);
        elf.putLong(headers + code.length).putLong(headers + code.length).putLong(4096);
        return elf.put(code).array();
    }

    @Test
    void guestCannotBeKilledOrRead() {
        try (var box = start()) {
            box.run("kill -9 1; kill -9 -1");
            assertThat(box.machine().isAlive()).isTrue();
            for (var file : List.of("environ", "maps", "mem", "fd/0", "root/etc/passwd", "cwd/etc")) {
                assertThat(box.run("cat /proc/1/" + file).exitCode()).as(file).isNotZero();
            }
            assertThat(box.output("cat /proc/*/environ | tr '\\0' '\\n'")).doesNotContain(SECRET, "VIV_");
        }
    }

    @Test
    void guestSocketIsUnreachable() {
        try (var box = start()) {
            assertThat(box.output("ls /run/vivarium")).contains("Permission denied");
            assertThat(box.run("echo x > /run/vivarium/s").exitCode()).isNotZero();
            assertThat(box.output("echo x > /run/vivarium-guest")).containsAnyOf("Read-only", "Permission denied");
        }
    }

    @Test
    void commandInheritsOnlyItsStandardStreams() {
        try (var box = start()) {
            assertThat(box.output(
                            "perl -e 'opendir D, \"/proc/self/fd\"; print join \" \", sort grep /\\d/, readdir D'"))
                    .isEqualTo("0 1 2 3");
            assertThat(box.output("readlink /proc/self/fd/*")).doesNotContain(home.toString());
        }
    }

    @Test
    void onlyStandardDevicesExistAndNoneCanBeCreated() {
        try (var box = start()) {
            var present = List.of(box.output("ls /dev").split("\\s+"));
            assertThat(present).contains("null", "zero", "urandom", "pts", "shm", "tty");
            assertThat(present)
                    .doesNotContain("mem", "kmsg", "kvm", "vda", "sda", "fuse", "net", "loop-control", "loop0");
            assertThat(box.run("mknod disk b 8 0").exitCode()).isNotZero();
            assertThat(box.run("mknod /tmp/mem c 1 1").exitCode()).isNotZero();
        }
    }

    @Test
    void resourcesWithoutACgroupAreLimitedPerProcess() {
        try (var box = start()) {
            assertThat(box.output("for limit in c n l i r e; do ulimit -H$limit; done"))
                    .isEqualTo("0\n4096\n64\n4096\n0\n0");
        }
    }

    @Test
    void inotifyInstancesAreLimitedPerMachine() throws IOException {
        try (var greedy = start();
                var other = start()) {
            assertThat(greedy.output(HOLD_ALL_WATCHES)).isNotEmpty();
            assertThat(other.output(ONE_WATCH)).isEqualTo("open");
            FileSystems.getDefault().newWatchService().close();
        }
    }

    @Test
    void terminalsAreLimitedPerMachine() {
        try (var greedy = start();
                var other = start()) {
            assertThat(Integer.parseInt(greedy.output(HOLD_ALL_TERMINALS))).isLessThanOrEqualTo(64);
            assertThat(other.output("perl -e 'print open($h, \"+<\", \"/dev/ptmx\") ? \"open\" : $!'"))
                    .isEqualTo("open");
        }
    }

    @Test
    void sandboxCannotWriteToTheSocketDirectory() throws IOException {
        try (var box = start()) {
            var wire = home.resolve("run").resolve(box.id().value()).resolve("wire");
            assertThat(Files.getAttribute(wire, "unix:uid")).isEqualTo(0);
            assertThat(Files.getPosixFilePermissions(wire))
                    .doesNotContain(PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_EXECUTE);
        }
    }

    @Test
    void hostNameIsTheMachineId() {
        try (var box = start()) {
            assertThat(box.output("cat /proc/sys/kernel/hostname"))
                    .isEqualTo(box.id().value());
        }
    }

    @Test
    void hostDirectoriesAreOwnerOnly() throws IOException {
        start().close();
        for (var name : List.of("run", "disks", "images")) {
            var mode = Files.getPosixFilePermissions(home.resolve(Path.of(name)));
            assertThat(mode).as(name).hasSize(3);
        }
    }
}
