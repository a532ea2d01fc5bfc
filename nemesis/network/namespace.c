#include "nemesis/network/namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "nemesis/network/backend.h"

struct setting {
    const char *path, *value;
    bool optional; /* came with later kernels */
};

static const struct setting quiet[] = {
    {"/proc/sys/net/ipv6/conf/all/disable_ipv6", "1", true},
    {"/proc/sys/net/ipv6/conf/default/disable_ipv6", "1", true},
    {.path = NULL},
};

/* How a node must treat TCP so that a healed network is used again at once (docs/faults.md): give
 * up connecting and resending soon, resend early, never back off for long. */
static const struct setting fast[] = {
    {"/proc/sys/net/ipv4/tcp_syn_retries", "1", false},
    {"/proc/sys/net/ipv4/tcp_retries2", "2", false},
    {"/proc/sys/net/ipv4/tcp_keepalive_time", "1", false},
    {"/proc/sys/net/ipv4/tcp_keepalive_intvl", "1", false},
    {"/proc/sys/net/ipv4/tcp_keepalive_probes", "3", false},
    {"/proc/sys/net/ipv4/tcp_congestion_control", "reno", false},
    {"/proc/sys/net/ipv4/tcp_rto_max_ms", "1000", true},
    {.path = NULL},
};

#define RTO_MIN_PATH "/proc/sys/net/ipv4/tcp_rto_min_us"

static int write_setting(const char *path, const char *value)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t written = write(fd, value, strlen(value));
    int code = written < 0 ? errno : 0;
    (void)close(fd); /* a setting takes effect with the write */
    return -code;
}

/* The last of the settings that should have taken and did not, or NULL. */
static const char *write_settings(const struct setting *settings)
{
    const char *missing = NULL;
    for (; settings->path; settings++) {
        int rc = write_setting(settings->path, settings->value);
        if (rc < 0 && !settings->optional)
            missing = settings->path;
    }
    return missing;
}

void namespace_prepare(const struct network_config *config, const char **ret_warning)
{
    (void)write_settings(quiet); /* all of it optional */
    *ret_warning = config->tcp_as_kernel ? NULL : write_settings(fast);
}

bool namespace_rto_min(void)
{
    char microseconds[16];
    (void)snprintf(microseconds, sizeof microseconds, "%u", NAMESPACE_RTO_MIN_MS * 1000);
    return write_setting(RTO_MIN_PATH, microseconds) == 0;
}

int namespace_run(const struct network_config *config, uint32_t index,
                  int (*work)(void *context, uint32_t index, struct error *error), void *context,
                  struct error *error)
{
    int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (home < 0)
        return error_set(error, -errno, "open /proc/self/ns/net: %s", strerror(errno));
    int rc = 0;
    if (setns(config->endpoints[index].netns, CLONE_NEWNET) < 0)
        rc = error_set(error, -errno, "enter the network namespace: %s", strerror(errno));
    if (rc == 0) {
        rc = work(context, index, error);
        if (setns(home, CLONE_NEWNET) < 0 && rc == 0)
            rc = error_set(error, -errno, "leave the network namespace: %s", strerror(errno));
    }
    (void)close(home);
    if (rc < 0) {
        char name[PROCESS_NAME_MAX];
        error_prefix(error, "network of %s", process_name(config->endpoints[index].process, name));
    }
    return rc;
}
