#include "devices/vpu/daemon/confinement.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace het::vpu {
namespace {

/// What neither compiling nor executing a model needs.
constexpr int kRefusedCalls[] = {SCMP_SYS(execve),
                                 SCMP_SYS(execveat),
                                 SCMP_SYS(socket),
                                 SCMP_SYS(connect),
                                 SCMP_SYS(bind),
                                 SCMP_SYS(listen),
                                 SCMP_SYS(ptrace),
                                 SCMP_SYS(process_vm_readv),
                                 SCMP_SYS(process_vm_writev),
                                 SCMP_SYS(mount),
                                 SCMP_SYS(umount2),
                                 SCMP_SYS(pivot_root),
                                 SCMP_SYS(chroot),
                                 SCMP_SYS(setns),
                                 SCMP_SYS(unshare),
                                 SCMP_SYS(bpf),
                                 SCMP_SYS(perf_event_open),
                                 SCMP_SYS(keyctl),
                                 SCMP_SYS(add_key),
                                 SCMP_SYS(request_key),
                                 SCMP_SYS(init_module),
                                 SCMP_SYS(finit_module),
                                 SCMP_SYS(delete_module),
                                 SCMP_SYS(kexec_load),
                                 SCMP_SYS(reboot),
                                 SCMP_SYS(swapon),
                                 SCMP_SYS(userfaultfd),
                                 SCMP_SYS(rename),
                                 SCMP_SYS(renameat),
                                 SCMP_SYS(renameat2),
                                 SCMP_SYS(link),
                                 SCMP_SYS(linkat),
                                 SCMP_SYS(symlink),
                                 SCMP_SYS(symlinkat),
                                 SCMP_SYS(mkdir),
                                 SCMP_SYS(mkdirat),
                                 SCMP_SYS(chmod),
                                 SCMP_SYS(fchmod),
                                 SCMP_SYS(fchmodat),
                                 SCMP_SYS(chown),
                                 SCMP_SYS(fchown),
                                 SCMP_SYS(fchownat),
                                 SCMP_SYS(setuid),
                                 SCMP_SYS(setgid),
                                 SCMP_SYS(io_uring_setup)};

Status system_error(const char* what) {
  return error(StatusCode::Internal, "cannot {}: {}", what, std::strerror(errno));
}

Status become(const std::string& name) {
  const passwd* const user = ::getpwnam(name.c_str());
  if (user == nullptr) {
    return error(StatusCode::InvalidArgument, "there is no user '{}'", name);
  }
  if (::setgroups(0, nullptr) != 0 || ::setgid(user->pw_gid) != 0 || ::setuid(user->pw_uid) != 0) {
    return system_error("become another user");
  }
  return {};
}

Status filter_calls() {
  const std::unique_ptr<void, decltype(&::seccomp_release)> filter(seccomp_init(SCMP_ACT_ALLOW),
                                                                   ::seccomp_release);
  if (!filter) return error(StatusCode::Internal, "cannot make a filter of system calls");
  const auto refuse = SCMP_ACT_ERRNO(EPERM);
  int failure = 0;
  for (const int call : kRefusedCalls) failure |= seccomp_rule_add(filter.get(), refuse, call, 0);
  for (const uint64_t mode : {O_WRONLY, O_RDWR}) {
    failure |= seccomp_rule_add(filter.get(), refuse, SCMP_SYS(openat), 1,
                                SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE, mode));
    failure |= seccomp_rule_add(filter.get(), refuse, SCMP_SYS(open), 1,
                                SCMP_A1(SCMP_CMP_MASKED_EQ, O_ACCMODE, mode));
  }
  // For threads that run already, too.
  failure |= seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_TSYNC, 1);
  if (failure == 0) failure = seccomp_load(filter.get());
  if (failure == 0) return {};
  return error(StatusCode::Internal, "the system takes no filter of system calls");
}

}  // namespace

Status confine(const Confinement& wanted) {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return system_error("refuse new privileges");
  if (wanted.memory_bytes > 0) {
    const rlimit limit{wanted.memory_bytes, wanted.memory_bytes};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) return system_error("limit the memory");
  }
  if (!wanted.user.empty()) HET_TRY(become(wanted.user));
  return wanted.filters_calls ? filter_calls() : Status();
}

}  // namespace het::vpu
