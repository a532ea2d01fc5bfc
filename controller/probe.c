#define _GNU_SOURCE
#include "controller/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "controller/bent_clock.h"
#include "controller/freezer.h"
#include "controller/fuse_mount.h"
#include "controller/programs.h"
#include "controller/sandbox.h"
#include "controller/service_use.h"
#include "nemesis/network/netem_probe.h"

/* Run `attempt` in a child that may enter namespaces; it returns 0 or a positive errno. */
static int in_child(int (*attempt)(void))
{
    pid_t child = fork();
    if (child < 0)
        return errno;
    if (child == 0)
        _exit(attempt());
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

static int enter_user_namespace(void)
{
    return geteuid() == 0 || unshare(CLONE_NEWUSER) == 0 ? 0 : errno;
}

static int enter_namespaces(void)
{
    int rc = enter_user_namespace();
    if (rc)
        return rc;
    return unshare(CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC) == 0 ? 0 : errno;
}

static int create_tap(void)
{
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    int rc = enter_namespaces();
    if (rc)
        return rc;
    int tun = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
    if (tun < 0)
        return errno;
    (void)snprintf(request.ifr_name, sizeof request.ifr_name, "probe0");
    return ioctl(tun, TUNSETIFF, &request) == 0 ? 0 : errno;
}

static int raise_priority(void)
{
    return setpriority(PRIO_PROCESS, 0, -5) == 0 ? 0 : errno;
}

static int probe_namespaces(struct error *error, const char **ret_fix)
{
    int rc = in_child(enter_namespaces);
    if (rc == 0)
        return 0;
    *ret_fix = sandbox_fix();
    return error_set(error, -rc, "%s namespaces cannot be created: %s",
                     geteuid() == 0 ? "PID, mount, network and IPC" : "unprivileged user",
                     strerror(rc));
}

static int probe_tun(struct error *error, const char **ret_fix)
{
    int rc = in_child(create_tap);
    if (rc == 0)
        return 0;
    bool present = access("/dev/net/tun", F_OK) == 0;
    *ret_fix = present ? "sudo chmod 0666 /dev/net/tun" : "sudo modprobe tun";
    return error_set(error, -rc, "a TAP cannot be created from /dev/net/tun: %s", strerror(rc));
}

static int probe_programs(struct error *error, const char **ret_fix)
{
    struct text folder = {0};
    int rc = programs_folder(&folder, error);
    for (int i = 0; rc == 0 && program_names[i]; i++)
        rc = program_check(text_string(&folder), program_names[i], error);
    *ret_fix = "scripts/build";
    text_release(&folder);
    return rc;
}

static int probe_priority(struct error *error, const char **ret_fix)
{
    int rc = in_child(raise_priority);
    if (rc == 0)
        return 0;
    *ret_fix = "sudo prlimit --nice=40 --pid $$";
    return error_set(error, -rc, "no process of ours may raise its priority: %s", strerror(rc));
}

int probe_faketime(struct error *error, const char **ret_fix)
{
    if (bent_clock_library())
        return 0;
    *ret_fix = "sudo apt-get install -y libfaketime";
    return error_set(error, -ENOENT, "libfaketime is not installed");
}

static int probe_etcd(struct error *error, const char **ret_fix)
{
    struct service_use use;
    return service_probe(service_find(slice_of("etcd")), &use, error, ret_fix);
}

static int probe_postgres(struct error *error, const char **ret_fix)
{
    struct service_use use;
    return service_probe(service_find(slice_of("postgres")), &use, error, ret_fix);
}

static int probe_zookeeper(struct error *error, const char **ret_fix)
{
    struct service_use use;
    return service_probe(service_find(slice_of("zookeeper")), &use, error, ret_fix);
}

const struct probe probes[] = {
    {"namespaces", "a sandbox that leaves nothing behind", true, probe_namespaces},
    {"tun", "the switch network", true, probe_tun},
    {"programs", "node, resource, client, coordinator, keeper and switch", true, probe_programs},
    {"priority", "a switch that is on time on a busy machine", false, probe_priority},
    {"netem", "the netem network, which --network auto prefers", false, netem_probe},
    {"libfaketime", "clock-step, clock-rate, clock-strobe, service-clock", false, probe_faketime},
    {"fuse", "disk faults", false, fuse_probe},
    {"etcd", "--service etcd", false, probe_etcd},
    {"postgres", "--service postgres", false, probe_postgres},
    {"zookeeper", "--service zookeeper", false, probe_zookeeper},
    {"cgroup2", "pause with means=freezer", false, freezer_probe},
    {.name = NULL},
};
