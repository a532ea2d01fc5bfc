/* Which service carries what, and what is said where it does not. */
#include "nodes/services.h"

#include "base/units.h"
#include "tests/test.h"

static int fits(const char *service, const char *algorithm, struct error *error)
{
    const struct algorithm *found;
    struct elector_config config = {.id = 1, .nodes = 3};
    knobs_defaults(&config.knobs);
    assert_int_equal(algorithm_parse(algorithm, &found, &config, error), 0);
    return service_fits(service_find(slice_of(service)), found, &config.options, error);
}

static void test_what_is_asked_is_carried(void **state)
{
    static const struct {
        const char *service, *algorithm, *refusal; /* NULL: it fits */
    } cases[] = {
        {"embedded", "lease", NULL},
        {"embedded", "queue", NULL},
        {"embedded", "db-lease", NULL},
        {"etcd", "lease", NULL},
        {"etcd", "queue:watch=leader", NULL},
        {"etcd", "db-lease:clock=client", NULL},
        {"etcd", "db-lease",
         "etcd has not what db-lease asks for, a clock of its own to go by (embedded, "
         "postgres can carry it; or say clock=client)"},
        {"postgres", "db-lease", NULL},
        {"postgres", "db-lease:clock=client", NULL},
        {"postgres", "queue",
         "postgres has not what queue asks for, a queue of records that go with their sessions "
         "(embedded, etcd, zookeeper can carry it)"},
        {"zookeeper", "lease", NULL},
        {"zookeeper", "queue", NULL},
        {"zookeeper", "db-lease:clock=client",
         "zookeeper has not what db-lease asks for, a row that is updated under a condition "
         "(embedded, etcd, postgres can carry it)"},
        {"etcd", "raft", "raft asks no coordination service (lease, queue, db-lease do)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error error = {.text = ""};
        int rc = fits(cases[i].service, cases[i].algorithm, &error);
        assert_string_equal(error.text, cases[i].refusal ? cases[i].refusal : "");
        assert_int_equal(rc < 0, cases[i].refusal != NULL);
    }
}

static void test_every_service_algorithm_says_what_it_needs(void **state)
{
    (void)state;
    for (uint32_t i = 0; algorithms[i]; i++) {
        struct option_values values = {0};
        if (algorithms[i]->options)
            options_defaults(algorithms[i]->options, &values);
        bool asks = algorithm_has_service(algorithms[i]->traits(&values));
        assert_int_equal(asks, algorithms[i]->needs != NULL);
    }
}

static void test_leases_are_rounded_up(void **state)
{
    const struct service_kind *etcd = service_find(slice_of("etcd"));
    (void)state;
    assert_true(service_lease_ns(service_find(slice_of("embedded")), 500 * NS_PER_MS) ==
                500 * NS_PER_MS);
    assert_true(service_lease_ns(etcd, 500 * NS_PER_MS) == 2 * NS_PER_S);
    assert_true(service_lease_ns(etcd, NS_PER_S) == 2 * NS_PER_S);
    assert_true(service_lease_ns(etcd, NS_PER_S + 1) == 3 * NS_PER_S);
    assert_null(service_find(slice_of("etc")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_asked_is_carried),
        cmocka_unit_test(test_every_service_algorithm_says_what_it_needs),
        cmocka_unit_test(test_leases_are_rounded_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
