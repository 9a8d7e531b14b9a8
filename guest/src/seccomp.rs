//! What commands may ask of the kernel: a list of ordinary calls, everything else is refused.
//!
//! The guest loads the filter on itself once and its children inherit it, so a command pays nothing for it. The list is
//! that of the container world without what opens namespaces, mounts, rings, keys or other processes.

use alloc::vec::Vec;

use libc::sock_filter;

const ARCHITECTURE: u32 = if cfg!(target_arch = "x86_64") { 0xC000_003E } else { 0xC000_00B7 };
const X32: u32 = 0x4000_0000;
/// Every flag of clone that makes a namespace.
const NAMESPACES: u32 = 0x7E02_0000;

const KILL: u32 = libc::SECCOMP_RET_KILL_PROCESS;
const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;

const fn refuse(errno: i32) -> u32 {
    libc::SECCOMP_RET_ERRNO | errno as u32
}

/// Where the kernel puts things: number, architecture, and the lower half of each argument.
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

/// The whole program. Calls are in the order of their use, so that the common ones are found early.
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

/// Binary search over ranges of numbers: some ten comparisons for any call.
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

/// Emits a tree: at each node, numbers from `middle` on are in the upper half.
fn search(program: &mut Vec<sock_filter>, ranges: &[(u32, u32)]) {
    let at_least = |value: u32, jt: u8, jf: u8| sock_filter {
        code: (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16,
        jt,
        jf,
        k: value,
    };
    if let [(first, last)] = ranges {
        program.extend([at_least(*first, 0, 2), at_least(last + 1, 1, 0), give(ALLOW), give(refuse(libc::EPERM))]);
        return;
    }
    let (low, high) = ranges.split_at(ranges.len() / 2);
    let mut lower = Vec::new();
    search(&mut lower, low);
    // A jump of any length: the short ones of a comparison reach only 255 instructions.
    program.push(at_least(high[0].0, 0, 1));
    program.push(op(libc::BPF_JMP | libc::BPF_JA, lower.len() as u32));
    program.extend(lower);
    search(program, high);
}

/// Calls that depend on their arguments. Each rule ends with a decision.
fn special() -> Vec<(libc::c_long, Vec<sock_filter>)> {
    Vec::from([
        (
            libc::SYS_clone,
            Vec::from([load(argument(0)), unless_any(NAMESPACES, 1), give(refuse(libc::EPERM)), give(ALLOW)]),
        ),
        // Its flags lie in memory, where a filter cannot look; everyone falls back to clone.
        (libc::SYS_clone3, Vec::from([give(refuse(libc::ENOSYS))])),
        (libc::SYS_socket, socket_rule()),
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

/// Unix and internet sockets; of netlink only what lists interfaces.
fn socket_rule() -> Vec<sock_filter> {
    let mut rule = Vec::from([load(argument(0))]);
    for domain in [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6] {
        rule.extend([unless_equal(domain as u32, 1), give(ALLOW)]);
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

/// Numbers that the `libc` crate does not know for every architecture; they are the same on all since 2019.
mod newer {
    pub const FUTEX_WAITV: i64 = 449;
    pub const CACHESTAT: i64 = 451;
    pub const FCHMODAT2: i64 = 452;
    pub const MAP_SHADOW_STACK: i64 = 453;
    pub const FUTEX_WAKE: i64 = 454;
    pub const FUTEX_WAIT: i64 = 455;
    pub const FUTEX_REQUEUE: i64 = 456;
    pub const PROCESS_MRELEASE: i64 = 448;
    pub const MSEAL: i64 = 462;
    pub const STATMOUNT: i64 = 457;
    pub const LISTMOUNT: i64 = 458;
}

macro_rules! calls {
    ($($name:ident)*) => { &[$(libc::$name),*] };
}

fn calls() -> Vec<libc::c_long> {
    let mut calls = Vec::from(ORDINARY);
    calls.extend(NEWER);
    #[cfg(target_arch = "x86_64")]
    calls.extend(OF_X86);
    calls
}

const NEWER: &[libc::c_long] = &[
    newer::FUTEX_WAITV,
    newer::CACHESTAT,
    newer::FCHMODAT2,
    newer::MAP_SHADOW_STACK,
    newer::FUTEX_WAKE,
    newer::FUTEX_WAIT,
    newer::FUTEX_REQUEUE,
    newer::PROCESS_MRELEASE,
    newer::MSEAL,
    newer::STATMOUNT,
    newer::LISTMOUNT,
];

const ORDINARY: &[libc::c_long] = calls! {
    SYS_read SYS_write SYS_readv SYS_writev SYS_pread64 SYS_pwrite64 SYS_preadv SYS_pwritev SYS_preadv2 SYS_pwritev2
    SYS_openat SYS_openat2 SYS_close SYS_close_range SYS_lseek SYS_dup SYS_dup3 SYS_pipe2 SYS_fcntl SYS_flock
    SYS_newfstatat SYS_fstat SYS_statx SYS_statfs SYS_fstatfs SYS_faccessat SYS_faccessat2 SYS_readlinkat SYS_getdents64
    SYS_mkdirat SYS_mknodat SYS_unlinkat SYS_renameat SYS_renameat2 SYS_linkat SYS_symlinkat
    SYS_fchmod SYS_fchmodat SYS_fchown SYS_fchownat SYS_utimensat SYS_truncate SYS_ftruncate SYS_fallocate SYS_fadvise64
    SYS_fsync SYS_fdatasync SYS_sync SYS_syncfs SYS_sync_file_range SYS_readahead SYS_copy_file_range SYS_sendfile
    SYS_splice SYS_tee SYS_vmsplice SYS_getcwd SYS_chdir SYS_fchdir SYS_umask
    SYS_getxattr SYS_lgetxattr SYS_fgetxattr SYS_setxattr SYS_lsetxattr SYS_fsetxattr SYS_listxattr SYS_llistxattr
    SYS_flistxattr SYS_removexattr SYS_lremovexattr SYS_fremovexattr
    SYS_mmap SYS_munmap SYS_mremap SYS_mprotect SYS_madvise SYS_msync SYS_mincore SYS_mlock SYS_mlock2 SYS_munlock
    SYS_mlockall SYS_munlockall SYS_brk SYS_memfd_create SYS_membarrier SYS_remap_file_pages SYS_pkey_alloc SYS_pkey_free
    SYS_pkey_mprotect SYS_get_mempolicy SYS_set_mempolicy SYS_mbind
    SYS_execve SYS_execveat SYS_exit SYS_exit_group SYS_wait4 SYS_waitid SYS_kill SYS_tkill SYS_tgkill SYS_getpid
    SYS_getppid SYS_gettid SYS_getpgid SYS_setpgid SYS_getsid SYS_setsid SYS_pidfd_open SYS_pidfd_send_signal
    SYS_set_tid_address SYS_set_robust_list SYS_get_robust_list SYS_rseq SYS_futex SYS_prctl SYS_restart_syscall
    SYS_getuid SYS_geteuid SYS_getgid SYS_getegid SYS_getgroups SYS_getresuid SYS_getresgid SYS_setuid SYS_setgid
    SYS_setreuid SYS_setregid SYS_setresuid SYS_setresgid SYS_setfsuid SYS_setfsgid SYS_setgroups SYS_capget SYS_capset
    SYS_getpriority SYS_setpriority SYS_ioprio_get SYS_ioprio_set SYS_sched_yield SYS_sched_getaffinity
    SYS_sched_setaffinity SYS_sched_getparam SYS_sched_setparam SYS_sched_getscheduler SYS_sched_setscheduler
    SYS_sched_get_priority_max SYS_sched_get_priority_min SYS_sched_rr_get_interval SYS_sched_getattr SYS_sched_setattr
    SYS_getrlimit SYS_setrlimit SYS_prlimit64 SYS_getrusage SYS_times SYS_sysinfo SYS_uname SYS_getcpu SYS_getrandom
    SYS_rt_sigaction SYS_rt_sigprocmask SYS_rt_sigreturn SYS_rt_sigpending SYS_rt_sigsuspend SYS_rt_sigtimedwait
    SYS_rt_sigqueueinfo SYS_rt_tgsigqueueinfo SYS_sigaltstack SYS_signalfd4
    SYS_nanosleep SYS_clock_nanosleep SYS_clock_gettime SYS_clock_getres SYS_gettimeofday SYS_getitimer SYS_setitimer
    SYS_timer_create SYS_timer_settime SYS_timer_gettime SYS_timer_getoverrun SYS_timer_delete
    SYS_timerfd_create SYS_timerfd_settime SYS_timerfd_gettime
    SYS_epoll_create1 SYS_epoll_ctl SYS_epoll_pwait SYS_epoll_pwait2 SYS_ppoll SYS_pselect6 SYS_eventfd2
    SYS_inotify_init1 SYS_inotify_add_watch SYS_inotify_rm_watch
    SYS_io_setup SYS_io_destroy SYS_io_submit SYS_io_cancel SYS_io_getevents
    SYS_socketpair SYS_bind SYS_listen SYS_accept SYS_accept4 SYS_connect SYS_getsockname SYS_getpeername SYS_sendto
    SYS_recvfrom SYS_sendmsg SYS_recvmsg SYS_sendmmsg SYS_recvmmsg SYS_shutdown SYS_setsockopt SYS_getsockopt
    SYS_shmget SYS_shmat SYS_shmdt SYS_shmctl SYS_semget SYS_semop SYS_semtimedop SYS_semctl SYS_msgget SYS_msgsnd
    SYS_msgrcv SYS_msgctl SYS_mq_open SYS_mq_unlink SYS_mq_timedsend SYS_mq_timedreceive SYS_mq_notify SYS_mq_getsetattr
    SYS_landlock_create_ruleset SYS_landlock_add_rule SYS_landlock_restrict_self SYS_seccomp
};

#[cfg(target_arch = "x86_64")]
const OF_X86: &[libc::c_long] = calls! {
    SYS_open SYS_creat SYS_stat SYS_lstat SYS_access SYS_poll SYS_select SYS_pipe SYS_dup2 SYS_fork SYS_vfork SYS_pause
    SYS_alarm SYS_getdents SYS_rename SYS_mkdir SYS_rmdir SYS_link SYS_unlink SYS_symlink SYS_readlink SYS_chmod SYS_chown
    SYS_lchown SYS_mknod SYS_utime SYS_utimes SYS_futimesat SYS_time SYS_getpgrp SYS_arch_prctl SYS_epoll_create
    SYS_epoll_wait SYS_signalfd SYS_eventfd SYS_inotify_init SYS_ustat SYS_sysfs SYS_get_thread_area SYS_set_thread_area
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the program as the kernel would.
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
    fn whatOpensOtherWorldsIsRefused() {
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
        ];
        for call in calls {
            assert_eq!(ask(call, [0; 3]), refuse(libc::EPERM), "call {call}");
        }
    }

    #[test]
    fn anotherArchitectureKills() {
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
    fn onlyOrdinarySocketsAreMade() {
        for domain in [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6] {
            assert_eq!(ask(libc::SYS_socket, [domain as u32, 1, 0]), ALLOW);
        }
        assert_eq!(ask(libc::SYS_socket, [libc::AF_NETLINK as u32, 3, 0]), ALLOW);
        assert_eq!(ask(libc::SYS_socket, [libc::AF_NETLINK as u32, 3, 16]), refuse(libc::EPERM));
        for domain in [libc::AF_VSOCK, libc::AF_PACKET, libc::AF_ALG] {
            assert_eq!(ask(libc::SYS_socket, [domain as u32, 1, 0]), refuse(libc::EAFNOSUPPORT));
        }
    }

    #[test]
    fn nobodyTypesIntoAnotherTerminal() {
        assert_eq!(ask(libc::SYS_ioctl, [0, libc::TIOCSTI as u32, 0]), refuse(libc::EPERM));
        assert_eq!(ask(libc::SYS_ioctl, [0, libc::TIOCLINUX as u32, 0]), refuse(libc::EPERM));
        assert_eq!(ask(libc::SYS_ioctl, [0, libc::TIOCGWINSZ as u32, 0]), ALLOW);
        assert_eq!(ask(libc::SYS_personality, [0x20008, 0, 0]), ALLOW);
        assert_eq!(ask(libc::SYS_personality, [0x0040_0000, 0, 0]), refuse(libc::EPERM));
    }
}
