#include "nodes/services.h"

#include "base/units.h"

#define ALL_NEEDS (1u << NEED_LEASE | 1u << NEED_QUEUE | 1u << NEED_ROW | 1u << NEED_CLOCK)

const struct service_kind service_kinds[] = {
    {.name = "embedded",
     .summary = "coup-coordinator, coup's own",
     .carries = ALL_NEEDS,
     .built = true},
    {.name = "etcd",
     .summary = "etcd 3.4 or later, by its HTTP gateway; it has no clock, and leases of whole "
                "seconds",
     .program = "etcd",
     .program_fix = "sudo apt-get install -y etcd-server",
     .carries = 1u << NEED_LEASE | 1u << NEED_QUEUE | 1u << NEED_ROW,
     .lease_unit_ns = NS_PER_S,
     .lease_late_ns = NS_PER_S, /* it looks for expired leases every 500 ms, and revokes in turn */
     .built = COUP_WITH_CURL,
     .library_fix = "sudo apt-get install -y libcurl4-openssl-dev, then scripts/build"},
    {.name = "postgres",
     .summary = "PostgreSQL 14 or later; it has no sessions",
     .program = "postgres",
     .program_fix = "sudo apt-get install -y postgresql",
     .carries = 1u << NEED_ROW | 1u << NEED_CLOCK,
     .built = COUP_WITH_PQ,
     .library_fix = "sudo apt-get install -y libpq-dev, then scripts/build"},
    {.name = "zookeeper",
     .summary = "ZooKeeper 3.5 or later, by its C client; it has no conditional row and no clock",
     .program = "java",
     .program_fix = "sudo apt-get install -y zookeeper",
     .carries = 1u << NEED_LEASE | 1u << NEED_QUEUE,
     .lease_late_ns = 200 * NS_PER_MS, /* it ends sessions in ticks of 50 ms */
     .built = COUP_WITH_ZOOKEEPER,
     .library_fix = "sudo apt-get install -y libzookeeper-st-dev, then scripts/build"},
    {.name = NULL},
};

const struct service_kind *service_find(struct slice name)
{
    for (const struct service_kind *kind = service_kinds; kind->name; kind++)
        if (slice_equals(name, kind->name))
            return kind;
    return NULL;
}

uint64_t service_lease_ns(const struct service_kind *kind, uint64_t lease_ns)
{
    uint64_t unit_ns = kind->lease_unit_ns ? kind->lease_unit_ns : 1;
    return (lease_ns + unit_ns - 1) / unit_ns * unit_ns + kind->lease_late_ns;
}

void service_names(struct text *out)
{
    for (const struct service_kind *kind = service_kinds; kind->name; kind++)
        text_add(out, "%s%s", kind == service_kinds ? "" : ", ", kind->name);
}

static const char *need_words(uint32_t missing)
{
    if (missing & 1u << NEED_LEASE)
        return "a record that goes with its session";
    if (missing & 1u << NEED_QUEUE)
        return "a queue of records that go with their sessions";
    if (missing & 1u << NEED_ROW)
        return "a row that is updated under a condition";
    return "a clock of its own to go by";
}

int service_fits(const struct service_kind *kind, const struct algorithm *algorithm,
                 const struct option_values *options, struct error *error)
{
    if (!algorithm->needs)
        return error_usage(error, "%s asks no coordination service (lease, queue, db-lease do)",
                           algorithm->name);
    uint32_t needs = algorithm->needs(options);
    if ((needs & ~kind->carries) == 0)
        return 0;
    struct text able = {0};
    for (const struct service_kind *other = service_kinds; other->name; other++)
        if ((needs & ~other->carries) == 0)
            text_add(&able, "%s%s", able.length ? ", " : "", other->name);
    bool clock = needs & 1u << NEED_CLOCK && (needs & ~kind->carries) == 1u << NEED_CLOCK;
    int rc = error_usage(error, "%s has not what %s asks for, %s (%s can carry it%s)", kind->name,
                         algorithm->name, need_words(needs & ~kind->carries), text_string(&able),
                         clock ? "; or say clock=client" : "");
    text_release(&able);
    return rc;
}
