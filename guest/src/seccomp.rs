//! Seccomp filter: an allow-list of system calls for commands.
//!
//! The guest loads the filter for itself once, and its children inherit it. The list is the usual one of container
//! runtimes without namespaces, mounts, io_uring, keyrings and access to other processes.

mod calls;

use alloc::vec::Vec;

use calls::calls;
use libc::sock_filter;

const ARCHITECTURE: u32 = if cfg!(target_arch = "x86_64") { 0xC000_003E } else { 0xC000_00B7 };
const X32: u32 = 0x4000_0000;
/// All clone flags that create a namespace.
const NAMESPACES: u32 = 0x7E02_0000;
/// The bits of a socket's type that are not flags.
const SOCKET_TYPE: u32 = 0xF;

const KILL: u32 = libc::SECCOMP_RET_KILL_PROCESS;
const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;

const fn refuse(errno: i32) -> u32 {
    libc::SECCOMP_RET_ERRNO | errno as u32
}

/// Offsets in `struct seccomp_data`: number, architecture, and the lower half of each argument.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const fn argument(index: u32) -> u32 {
    16 + 8 * index
}

fn load(offset: u32) -> sock_filter {
    op(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset)
}

fn give(action: u32) -> sock_filter {
    op(libc::BPF_RET | libc::BPF_K, action)
}

fn op(code: u32, k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

/// Skips `skip` instructions unless the loaded word equals `value`.
fn unless_equal(value: u32, skip: u8) -> sock_filter {
    sock_filter { code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16, jt: 0, jf: skip, k: value }
}

/// Skips `skip` instructions unless the loaded word has one of `bits`.
fn unless_any(bits: u32, skip: u8) -> sock_filter {
    sock_filter { code: (libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K) as u16, jt: 0, jf: skip, k: bits }
}

/// Skips `jt` instructions if the loaded word is `value` or more, else `jf`.
fn at_least(value: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code: (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16, jt, jf, k: value }
}

/// Returns the filter program.
pub fn filter() -> Vec<sock_filter> {
    let mut program = Vec::with_capacity(512);
    program.extend([
        load(ARCH),
        sock_filter { jt: 1, jf: 0, ..unless_equal(ARCHITECTURE, 0) },
        give(KILL),
        load(NUMBER),
    ]);
    if cfg!(target_arch = "x86_64") {
        program.extend([unless_any(X32, 1), give(KILL)]);
    }
    for (call, rule) in special() {
        program.push(unless_equal(call as u32, rule.len() as u8));
        program.extend(rule);
    }
    allow_all(&mut program, &calls());
    program.push(give(refuse(libc::EPERM)));
    program
}

/// Emits a binary search over ranges of numbers: about ten comparisons for each call.
fn allow_all(program: &mut Vec<sock_filter>, calls: &[libc::c_long]) {
    let mut numbers: Vec<u32> = calls.iter().map(|call| *call as u32).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    search(program, &ranges);
}

/// Emits a search tree. At each node, numbers from `middle` on are in the upper half.
fn search(program: &mut Vec<sock_filter>, ranges: &[(u32, u32)]) {
    if let [(first, last)] = ranges {
        program.extend([at_least(*first, 0, 2), at_least(last + 1, 1, 0), give(ALLOW), give(refuse(libc::EPERM))]);
        return;
    }
    let (low, high) = ranges.split_at(ranges.len() / 2);
    let mut lower = Vec::new();
    search(&mut lower, low);
    // An unconditional jump has any length; the jumps of a comparison reach 255 instructions only.
    program.push(at_least(high[0].0, 0, 1));
    program.push(op(libc::BPF_JMP | libc::BPF_JA, lower.len() as u32));
    program.extend(lower);
    search(program, high);
}

/// Rules for calls that depend on their arguments. Each rule ends with a decision.
fn special() -> Vec<(libc::c_long, Vec<sock_filter>)> {
    Vec::from([
        (
            libc::SYS_clone,
            Vec::from([load(argument(0)), unless_any(NAMESPACES, 1), give(refuse(libc::EPERM)), give(ALLOW)]),
        ),
        // A filter cannot read the flags of clone3, which are in memory. C libraries fall back to clone.
        (libc::SYS_clone3, Vec::from([give(refuse(libc::ENOSYS))])),
        (libc::SYS_socket, socket_rule()),
        (libc::SYS_socketpair, one_of(0, &[libc::AF_UNIX as u32], ALLOW, refuse(libc::EAFNOSUPPORT))),
        // The limit of these requests is global, so one sandbox could exhaust it.
        (libc::SYS_io_setup, Vec::from([give(refuse(libc::ENOSYS))])),
        (libc::SYS_ioctl, one_of(1, &[libc::TIOCSTI as u32, libc::TIOCLINUX as u32], refuse(libc::EPERM), ALLOW)),
        (libc::SYS_personality, one_of(0, &[0, 8, 0x20000, 0x20008, 0xFFFF_FFFF], ALLOW, refuse(libc::EPERM))),
    ])
}

fn one_of(index: u32, values: &[u32], then: u32, otherwise: u32) -> Vec<sock_filter> {
    let mut rule = Vec::from([load(argument(index))]);
    for value in values {
        rule.extend([unless_equal(*value, 1), give(then)]);
    }
    rule.push(give(otherwise));
    rule
}

/// Allows unix sockets, the common internet protocols, and the netlink protocol that lists interfaces. Other internet
/// protocols would make the host load kernel modules.
fn socket_rule() -> Vec<sock_filter> {
    let internet = internet_rule();
    let mut rule = Vec::from([load(argument(0)), unless_equal(libc::AF_UNIX as u32, 1), give(ALLOW)]);
    for domain in [libc::AF_INET, libc::AF_INET6] {
        rule.push(unless_equal(domain as u32, internet.len() as u8));
        rule.extend(&internet);
    }
    rule.extend([
        unless_equal(libc::AF_NETLINK as u32, 4),
        load(argument(2)),
        unless_equal(libc::NETLINK_ROUTE as u32, 1),
        give(ALLOW),
        give(refuse(libc::EPERM)),
        give(refuse(libc::EAFNOSUPPORT)),
    ]);
    rule
}

/// Allows streams and datagrams with their usual protocols. The kernel itself restricts raw sockets by a capability.
fn internet_rule() -> Vec<sock_filter> {
    let mut rule = Vec::from([
        load(argument(1)),
        op(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, SOCKET_TYPE),
        at_least(libc::SOCK_RAW as u32 + 1, 1, 0),
        at_least(libc::SOCK_STREAM as u32, 1, 0),
        give(refuse(libc::ESOCKTNOSUPPORT)),
    ]);
    let protocols = [0, libc::IPPROTO_ICMP, libc::IPPROTO_TCP, libc::IPPROTO_UDP, libc::IPPROTO_ICMPV6];
    rule.extend(one_of(2, &protocols.map(|protocol| protocol as u32), ALLOW, refuse(libc::EPROTONOSUPPORT)));
    rule
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Interprets the program like the kernel.
    fn decide(program: &[sock_filter], arch: u32, number: u32, arguments: [u32; 3]) -> u32 {
        let (mut at, mut word) = (0, 0);
        loop {
            let step = program[at];
            at += 1;
            let code = u32::from(step.code);
            let jump = |holds: bool| usize::from(if holds { step.jt } else { step.jf });
            if code == libc::BPF_RET {
                return step.k;
            } else if code == libc::BPF_LD | libc::BPF_ABS {
                word = match step.k {
                    NUMBER => number,
                    ARCH => arch,
                    offset => arguments[(offset as usize - 16) / 8],
                };
            } else if code == libc::BPF_ALU | libc::BPF_AND {
                word &= step.k;
            } else if code == libc::BPF_JMP | libc::BPF_JA {
                at += step.k as usize;
            } else if code == libc::BPF_JMP | libc::BPF_JEQ {
                at += jump(word == step.k);
            } else if code == libc::BPF_JMP | libc::BPF_JGE {
                at += jump(word >= step.k);
            } else if code == libc::BPF_JMP | libc::BPF_JSET {
                at += jump(word & step.k != 0);
            } else {
                panic!("unknown instruction {code:x}");
            }
        }
    }

    fn ask(number: libc::c_long, arguments: [u32; 3]) -> u32 {
        decide(&filter(), ARCHITECTURE, number as u32, arguments)
    }

    #[test]
    fn everyCallIsAllowedExactlyIfItIsListed() {
        let program = filter();
        let (listed, special) = (calls(), special());
        for number in 0..1000 {
            if special.iter().any(|(call, _)| *call == number) {
                continue;
            }
            let expected = if listed.contains(&number) { ALLOW } else { refuse(libc::EPERM) };
            assert_eq!(decide(&program, ARCHITECTURE, number as u32, [0; 3]), expected, "call {number}");
        }
        assert!(program.len() < 4096);
    }

    #[test]
    fn systemCallsForNamespacesAndMountsAreRefused() {
        let calls = [
            libc::SYS_unshare,
            libc::SYS_setns,
            libc::SYS_mount,
            libc::SYS_umount2,
            libc::SYS_open_tree,
            libc::SYS_move_mount,
            libc::SYS_fsopen,
            libc::SYS_fsconfig,
            libc::SYS_fsmount,
            libc::SYS_fspick,
            libc::SYS_mount_setattr,
            libc::SYS_pivot_root,
            libc::SYS_chroot,
            libc::SYS_io_uring_setup,
            libc::SYS_io_uring_enter,
            libc::SYS_io_uring_register,
            libc::SYS_keyctl,
            libc::SYS_add_key,
            libc::SYS_request_key,
            libc::SYS_bpf,
            libc::SYS_userfaultfd,
            libc::SYS_perf_event_open,
            libc::SYS_ptrace,
            libc::SYS_process_vm_readv,
            libc::SYS_process_vm_writev,
            libc::SYS_pidfd_getfd,
            libc::SYS_kexec_load,
            libc::SYS_kexec_file_load,
            libc::SYS_init_module,
            libc::SYS_finit_module,
            libc::SYS_delete_module,
            libc::SYS_open_by_handle_at,
            libc::SYS_name_to_handle_at,
            libc::SYS_quotactl,
            libc::SYS_acct,
            libc::SYS_swapon,
            libc::SYS_swapoff,
            libc::SYS_reboot,
            libc::SYS_settimeofday,
            libc::SYS_clock_settime,
            libc::SYS_adjtimex,
            libc::SYS_clock_adjtime,
            libc::SYS_syslog,
            libc::SYS_nfsservctl,
            libc::SYS_vhangup,
            libc::SYS_fanotify_init,
            libc::SYS_sethostname,
            libc::SYS_setdomainname,
            libc::SYS_kcmp,
            libc::SYS_move_pages,
            libc::SYS_migrate_pages,
            #[cfg(target_arch = "x86_64")]
            libc::SYS_ustat,
            451, // cachestat
        ];
        for call in calls {
            assert_eq!(ask(call, [0; 3]), refuse(libc::EPERM), "call {call}");
        }
    }

    #[test]
    fn aSystemCallOfAnotherArchitectureKillsTheProcess() {
        assert_eq!(decide(&filter(), 0x4000_0003, 1, [0; 3]), KILL);
        if cfg!(target_arch = "x86_64") {
            assert_eq!(ask((X32 | 1).into(), [0; 3]), KILL);
        }
    }

    #[test]
    fn cloneMakesThreadsAndProcessesButNoNamespaces() {
        assert_eq!(ask(libc::SYS_clone, [libc::SIGCHLD as u32, 0, 0]), ALLOW);
        assert_eq!(ask(libc::SYS_clone, [0x3D0F00, 0, 0]), ALLOW);
        for flag in
            [libc::CLONE_NEWUSER, libc::CLONE_NEWNS, libc::CLONE_NEWPID, libc::CLONE_NEWNET, libc::CLONE_NEWCGROUP]
        {
            assert_eq!(ask(libc::SYS_clone, [flag as u32, 0, 0]), refuse(libc::EPERM));
        }
        assert_eq!(ask(libc::SYS_clone3, [0; 3]), refuse(libc::ENOSYS));
    }

    #[test]
    fn onlyOrdinarySocketsAreAllowed() {
        for domain in [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6] {
            assert_eq!(ask(libc::SYS_socket, [domain as u32, 1, 0]), ALLOW);
            assert_eq!(ask(libc::SYS_socket, [domain as u32, (2 | libc::SOCK_CLOEXEC) as u32, 0]), ALLOW);
        }
        assert_eq!(ask(libc::SYS_socket, [libc::AF_NETLINK as u32, 3, 0]), ALLOW);
        assert_eq!(ask(libc::SYS_socket, [libc::AF_NETLINK as u32, 3, 16]), refuse(libc::EPERM));
        for domain in [libc::AF_VSOCK, libc::AF_PACKET, libc::AF_ALG] {
            assert_eq!(ask(libc::SYS_socket, [domain as u32, 1, 0]), refuse(libc::EAFNOSUPPORT));
        }
    }

    #[test]
    fn onlyUnixSocketsAreMadeInPairs() {
        assert_eq!(ask(libc::SYS_socketpair, [libc::AF_UNIX as u32, 1, 0]), ALLOW);
        for domain in [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK, libc::AF_VSOCK, libc::AF_TIPC, libc::AF_ALG] {
            assert_eq!(ask(libc::SYS_socketpair, [domain as u32, 1, 0]), refuse(libc::EAFNOSUPPORT));
        }
    }

    #[test]
    fn socketsThatWouldLoadAModuleAreRefused() {
        for domain in [libc::AF_INET, libc::AF_INET6] {
            for (kind, protocol) in [(1, 6), (2, 17), (2, 1), (2, 58), (3, 1)] {
                assert_eq!(ask(libc::SYS_socket, [domain as u32, kind, protocol]), ALLOW);
            }
            for (kind, protocol) in [(1, 132), (1, 262), (2, 136), (2, 115), (3, 255)] {
                assert_eq!(ask(libc::SYS_socket, [domain as u32, kind, protocol]), refuse(libc::EPROTONOSUPPORT));
            }
            for kind in [0, 4, 5, 6, 10] {
                assert_eq!(ask(libc::SYS_socket, [domain as u32, kind, 0]), refuse(libc::ESOCKTNOSUPPORT));
            }
        }
    }

    #[test]
    fn systemCallsForUncountedHostResourcesAreRefused() {
        assert_eq!(ask(libc::SYS_io_setup, [1, 0, 0]), refuse(libc::ENOSYS));
    }

    #[test]
    fn injectingTerminalInputIsRefused() {
        assert_eq!(ask(libc::SYS_ioctl, [0, libc::TIOCSTI as u32, 0]), refuse(libc::EPERM));
        assert_eq!(ask(libc::SYS_ioctl, [0, libc::TIOCLINUX as u32, 0]), refuse(libc::EPERM));
        assert_eq!(ask(libc::SYS_ioctl, [0, libc::TIOCGWINSZ as u32, 0]), ALLOW);
        assert_eq!(ask(libc::SYS_personality, [0x20008, 0, 0]), ALLOW);
        assert_eq!(ask(libc::SYS_personality, [0x0040_0000, 0, 0]), refuse(libc::EPERM));
    }
}
