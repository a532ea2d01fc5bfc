/* The link matrix against a plain model: a list of (fault, from, to, impairment) merged from
 * scratch at every question. */
#include "nemesis/link.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "tests/test.h"

static const struct impairment cut = {.cut = true};

static void test_overlap_and_removal(void **state)
{
    (void)state;
    struct link_matrix *matrix = link_matrix_new(3);
    const struct link_change *changes;
    link_matrix_add(matrix, 1, 0, 1, cut);
    link_matrix_add(matrix, 2, 0, 1, (struct impairment){.loss_ppm = 200000});
    link_matrix_add(matrix, 3, 0, 1, (struct impairment){.loss_ppm = 500000});
    struct impairment both = link_matrix_get(matrix, 0, 1);
    assert_true(both.cut);
    assert_int_equal(both.loss_ppm, 600000);
    assert_int_equal(link_matrix_changes(matrix, &changes), 1);
    link_matrix_remove(matrix, 1);
    link_matrix_remove(matrix, 1);
    link_matrix_remove(matrix, 99);
    struct impairment left = link_matrix_get(matrix, 0, 1);
    assert_false(left.cut);
    assert_int_equal(left.loss_ppm, 600000);
    link_matrix_remove(matrix, 2);
    left = link_matrix_get(matrix, 0, 1);
    assert_int_equal(left.loss_ppm, 500000);
    link_matrix_remove(matrix, 3);
    left = link_matrix_get(matrix, 0, 1);
    assert_true(impairment_is_clean(&left));
    assert_int_equal(link_matrix_changes(matrix, &changes), 1);
    assert_true(impairment_is_clean(&changes[0].impairment));
    link_matrix_free(matrix);
}

static void test_directions_are_apart(void **state)
{
    (void)state;
    struct link_matrix *matrix = link_matrix_new(2);
    link_matrix_add(matrix, 1, 0, 1, cut);
    struct impairment back = link_matrix_get(matrix, 1, 0);
    assert_true(impairment_is_clean(&back));
    link_matrix_free(matrix);
}

static void test_only_net_changes_are_reported(void **state)
{
    (void)state;
    struct link_matrix *matrix = link_matrix_new(4);
    const struct link_change *changes;
    link_matrix_add(matrix, 1, 2, 3, cut);
    link_matrix_remove(matrix, 1);
    assert_int_equal(link_matrix_changes(matrix, &changes), 0);
    link_matrix_add(matrix, 1, 2, 3, cut);
    assert_int_equal(link_matrix_changes(matrix, &changes), 1);
    assert_int_equal(changes[0].from, 2);
    assert_int_equal(changes[0].to, 3);
    link_matrix_add(matrix, 2, 2, 3, cut); /* a second cut changes nothing */
    assert_int_equal(link_matrix_changes(matrix, &changes), 0);
    link_matrix_remove(matrix, 1);
    assert_int_equal(link_matrix_changes(matrix, &changes), 0);
    link_matrix_free(matrix);
}

static void test_merge_rules(void **state)
{
    (void)state;
    struct impairment a = {.delay_ns = 50, .jitter_ns = 5, .rate_bits_per_s = 1000};
    struct impairment b = {.cut_data = true, .delay_ns = 70, .jitter_ns = 1, .corrupt_ppm = 10};
    struct impairment merged = impairment_merge(a, b);
    assert_true(merged.cut_data && !merged.cut);
    assert_int_equal(merged.delay_ns, 120);
    assert_int_equal(merged.jitter_ns, 6);
    assert_int_equal(merged.rate_bits_per_s, 1000);
    assert_int_equal(merged.corrupt_ppm, 10);
    b.rate_bits_per_s = 400;
    assert_int_equal(impairment_merge(a, b).rate_bits_per_s, 400);
    a.delay_ns = b.delay_ns = UINT64_MAX;
    assert_int_equal(impairment_merge(a, b).delay_ns, IMPAIRMENT_DELAY_MAX_NS);
    a.loss_ppm = b.loss_ppm = 1000000;
    assert_int_equal(impairment_merge(a, b).loss_ppm, 1000000);
    const struct impairment clean = {0};
    merged = impairment_merge(b, clean);
    b.delay_ns = IMPAIRMENT_DELAY_MAX_NS;
    assert_true(impairment_equal(&merged, &b));
}

/* ---- random operations against the model ---- */

#define ENDPOINTS 6
#define RECORDS 400

struct model {
    struct {
        uint64_t fault;
        uint32_t from, to;
        struct impairment impairment;
    } record[RECORDS];
    uint32_t count;
    struct impairment reported[ENDPOINTS][ENDPOINTS];
};

static struct impairment random_impairment(struct random *random)
{
    return (struct impairment){
        .cut = random_chance(random, 300000),
        .cut_soft = random_chance(random, 300000),
        .cut_data = random_chance(random, 300000),
        .loss_ppm = (uint32_t)random_below(random, 1000001),
        .duplicate_ppm = (uint32_t)random_below(random, 3) * 500000,
        .reorder_ppm = (uint32_t)random_below(random, 2) * 1000000,
        .corrupt_ppm = (uint32_t)random_below(random, 1000001),
        .delay_ns = random_below(random, 1000000),
        .jitter_ns = random_below(random, 1000),
        .rate_bits_per_s = random_below(random, 3) * 1000,
    };
}

/* Ascending fault: the order in which the matrix promises to merge. */
static struct impairment model_get(const struct model *model, uint32_t from, uint32_t to)
{
    struct impairment merged = {0};
    for (uint64_t fault = 0; fault < 10; fault++)
        for (uint32_t i = 0; i < model->count; i++)
            if (model->record[i].fault == fault && model->record[i].from == from &&
                model->record[i].to == to)
                merged = impairment_merge(merged, model->record[i].impairment);
    return merged;
}

static void model_remove(struct model *model, uint64_t fault)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < model->count; i++)
        if (model->record[i].fault != fault)
            model->record[kept++] = model->record[i];
    model->count = kept;
}

static void check_changes(struct model *model, struct link_matrix *matrix)
{
    const struct link_change *changes;
    uint32_t count = link_matrix_changes(matrix, &changes), expected = 0;
    for (uint32_t from = 0; from < ENDPOINTS; from++)
        for (uint32_t to = 0; to < ENDPOINTS; to++) {
            struct impairment now = model_get(model, from, to);
            struct impairment got = link_matrix_get(matrix, from, to);
            assert_true(impairment_equal(&now, &got));
            expected += !impairment_equal(&now, &model->reported[from][to]);
        }
    assert_int_equal(count, expected);
    for (uint32_t i = 0; i < count; i++) {
        struct impairment now = model_get(model, changes[i].from, changes[i].to);
        struct impairment *reported = &model->reported[changes[i].from][changes[i].to];
        assert_true(impairment_equal(&changes[i].impairment, &now));
        assert_false(impairment_equal(&changes[i].impairment, reported));
        *reported = now;
    }
}

static void model_step(struct model *model, struct link_matrix *matrix, struct random *random)
{
    uint64_t fault = random_below(random, 10);
    if (model->count == RECORDS || random_chance(random, 300000)) {
        model_remove(model, fault);
        link_matrix_remove(matrix, fault);
        return;
    }
    uint32_t from = (uint32_t)random_below(random, ENDPOINTS);
    uint32_t to = (from + 1 + (uint32_t)random_below(random, ENDPOINTS - 1)) % ENDPOINTS;
    struct impairment impairment = random_impairment(random);
    model->record[model->count].fault = fault;
    model->record[model->count].from = from;
    model->record[model->count].to = to;
    model->record[model->count++].impairment = impairment;
    link_matrix_add(matrix, fault, from, to, impairment);
}

static void test_random_operations(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct model *model = must_alloc(1, sizeof *model);
        struct link_matrix *matrix = link_matrix_new(ENDPOINTS);
        struct random random;
        random_init(&random, seed, "test", 0);
        for (int step = 0; step < 300; step++) {
            model_step(model, matrix, &random);
            if (random_chance(&random, 400000))
                check_changes(model, matrix);
        }
        for (uint64_t fault = 0; fault < 10; fault++) {
            model_remove(model, fault);
            link_matrix_remove(matrix, fault);
        }
        check_changes(model, matrix);
        link_matrix_free(matrix);
        free(model);
    }
}

/* ---- text ---- */

static void test_text_examples(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        struct impairment impairment;
    } examples[] = {
        {"", {0}},
        {"cut", {.cut = true}},
        {"cut-soft", {.cut_soft = true}},
        {"cut-data", {.cut_data = true}},
        {"loss=20%,delay=50ms", {.loss_ppm = 200000, .delay_ns = 50000000}},
        {"cut,loss=0.0001%,rate=9600bit", {.cut = true, .loss_ppm = 1, .rate_bits_per_s = 9600}},
        {"duplicate=1%,reorder=2%,corrupt=100%,jitter=1500us",
         {.duplicate_ppm = 10000,
          .reorder_ppm = 20000,
          .corrupt_ppm = 1000000,
          .jitter_ns = 1500000}},
    };
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        struct impairment parsed;
        struct error error;
        struct text text = {0};
        impairment_format(&examples[i].impairment, &text);
        assert_string_equal(text_string(&text), examples[i].text);
        assert_int_equal(impairment_parse(examples[i].text, &parsed, &error), 0);
        assert_true(impairment_equal(&parsed, &examples[i].impairment));
        text_release(&text);
    }
}

static void test_text_round_trip(void **state)
{
    (void)state;
    struct random random;
    random_init(&random, 7, "test", 0);
    struct text text = {0};
    for (int i = 0; i < 2000; i++) {
        struct impairment impairment = random_impairment(&random), parsed;
        struct error error;
        text_clear(&text);
        impairment_format(&impairment, &text);
        assert_int_equal(impairment_parse(text_string(&text), &parsed, &error), 0);
        assert_true(impairment_equal(&parsed, &impairment));
    }
    text_release(&text);
}

static void test_text_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text, *mention;
    } refused[] = {
        {"cut=on", "takes no value"},
        {"loss", "needs a value"},
        {"loss=120%", "probability"},
        {"loss=1%,loss=2%", "named twice"},
        {"cut,cut", "named twice"},
        {"slow=1", "accepted: cut, cut-soft, cut-data"},
        {"delay=2h", "between 0 and 1h"},
        {"delay=5", "accepted"},
        {"loss=1%,", "comma"},
        {",loss=1%", "empty"},
        {"loss=1%,,cut", "empty"},
        {" cut", "unknown"},
        {"rate=2000gbit", "between"},
        {"=", "unknown"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct impairment parsed = {.loss_ppm = 77};
        struct error error = {0};
        assert_true(impairment_parse(refused[i].text, &parsed, &error) < 0);
        if (!strstr(error.text, refused[i].mention))
            fail_msg("'%s': %s", refused[i].text, error.text);
        assert_int_equal(error_exit_code(&error), EXIT_USAGE_BAD);
        assert_int_equal(parsed.loss_ppm, 77);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overlap_and_removal),
        cmocka_unit_test(test_directions_are_apart),
        cmocka_unit_test(test_only_net_changes_are_reported),
        cmocka_unit_test(test_merge_rules),
        cmocka_unit_test(test_random_operations),
        cmocka_unit_test(test_text_examples),
        cmocka_unit_test(test_text_round_trip),
        cmocka_unit_test(test_text_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
