//! System calls of the allow-list: those that affect only resources of the process, or that the kernel limits for each
//! sandbox.

use alloc::vec::Vec;

/// Numbers that the `libc` crate does not define for every architecture. They are equal on all architectures.
mod newer {
    pub const FUTEX_WAITV: i64 = 449;
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

/// Calls that are allowed with any arguments.
pub fn calls() -> Vec<libc::c_long> {
    let mut calls = Vec::from(ORDINARY);
    calls.extend(NEWER);
    #[cfg(target_arch = "x86_64")]
    calls.extend(OF_X86);
    calls
}

const NEWER: &[libc::c_long] = &[
    newer::FUTEX_WAITV,
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
    SYS_bind SYS_listen SYS_accept SYS_accept4 SYS_connect SYS_getsockname SYS_getpeername SYS_sendto
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
    SYS_epoll_wait SYS_signalfd SYS_eventfd SYS_inotify_init SYS_sysfs SYS_get_thread_area SYS_set_thread_area
};
