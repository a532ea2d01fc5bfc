#include "controller/check_imported.h"

#include <string.h>

#include "controller/output.h"
#include "histories/input.h"
#include "report/imported.h"
#include "report/verdict.h"

/* An imported history is held in memory. */
#define FILE_BYTES_MAX ((size_t)4 << 30)
#define LOOK_BYTES ((size_t)64 << 10)

/* The order of enum import_nil and import_fail, without the first of each. */
const char *const check_nil_words[] = {"value", "unknown", NULL};
const char *const check_fail_words[] = {"not-done", "refused", NULL};

static const unsigned char coup_magic[] = {0x89, 'c', 'o', 'u', 'p'};

void check_models(struct text *out)
{
    for (uint32_t i = 0; linear_models[i]; i++)
        text_add(out, "%s%s", i ? ", " : "", linear_models[i]->name);
}

static int find_model(const char *name, const struct linear_model **ret, struct error *error)
{
    struct text accepted = {0};
    *ret = linear_model_find(slice_of(name));
    if (*ret)
        return 0;
    check_models(&accepted);
    int rc =
        error_usage(error, "unknown model '%.60s' (accepted: %s)", name, text_string(&accepted));
    text_release(&accepted);
    return rc;
}

/* An option that says nothing to the model is a misunderstanding. */
static int vet_model(const struct command_line *line, const struct linear_model *model,
                     struct error *error)
{
    const struct {
        const char *option;
        uint32_t fs;
    } rows[] = {
        {"initial", ~(1u << LINEAR_ACQUIRE | 1u << LINEAR_RELEASE)},
        {"nil", 1u << LINEAR_READ | 1u << LINEAR_TXN},
        {"fail", 1u << LINEAR_CAS},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (command_given(line, rows[i].option) && !(model->fs & rows[i].fs))
            return error_usage(error, "--%s says nothing to model %s", rows[i].option, model->name);
    return 0;
}

int check_imported_vet(const struct command_line *line, struct error *error)
{
    static const char *const only[] = {"initial", "nil", "fail"};
    const struct linear_model *model;
    if (command_given(line, "model") && command_given(line, "checks"))
        return error_usage(error, "--checks and --model exclude each other: --checks is for coup's "
                                  "own histories, --model for those of other tools");
    for (size_t i = 0; i < sizeof only / sizeof only[0]; i++)
        if (command_given(line, only[i]) && !command_given(line, "model"))
            return error_usage(error, "--%s needs --model", only[i]);
    if (!command_given(line, "model"))
        return 0;
    int rc = find_model(command_text(line, "model"), &model, error);
    return rc < 0 ? rc : vet_model(line, model, error);
}

static bool is_coup(struct slice text)
{
    return text.length >= sizeof coup_magic &&
           (memcmp(text.at, coup_magic, sizeof coup_magic) == 0 ||
            memcmp(text.at, "{\"for", sizeof coup_magic) == 0);
}

static int open_input(const char *path, struct input *input, struct error *error)
{
    int rc = input_open_file(input, path);
    if (rc < 0)
        return error_usage(error, "%s: %s", path, strerror(-rc));
    return 0;
}

static int read_all(const char *path, struct input *input, struct slice *ret, struct error *error)
{
    int rc = open_input(path, input, error);
    if (rc < 0)
        return rc;
    for (size_t want = LOOK_BYTES; input_need(input, want) >= want; want *= 2)
        if (want > FILE_BYTES_MAX)
            return error_usage(error, "%s: larger than %zu bytes", path, FILE_BYTES_MAX);
    *ret = (struct slice){(const char *)input->at, input->length};
    if (input->error)
        return error_usage(error, "%s: cannot be read: %s", path, strerror(input->error));
    if (input->length == 0)
        return error_usage(error, "%s: is empty", path);
    if (is_coup(*ret))
        return error_usage(error, "%s: is a history of coup's own, which needs no --model", path);
    return 0;
}

static int judge_text(const struct command_line *line, const char *path, struct slice text,
                      struct text *out, struct error *error)
{
    struct search_limits limits = SEARCH_LIMITS;
    struct imported imported = {.text = text,
                                .path = path,
                                .title = line->argument_count > 1 ? path : NULL,
                                .colour = output_colour()};
    struct import import;
    struct import_options options = {.initial = command_text(line, "initial")};
    int rc = find_model(command_text(line, "model"), &options.model, error);
    if (command_given(line, "nil"))
        options.nil = (enum import_nil)(NIL_IS_VALUE + command_number(line, "nil"));
    if (command_given(line, "fail"))
        options.fail = (enum import_fail)(FAIL_IS_NOT_DONE + command_number(line, "fail"));
    if (rc == 0)
        rc = import_history(text, &options, &import, error);
    if (rc < 0) {
        error_prefix(error, "%s", path);
        return rc;
    }
    imported_judge(&imported, &import, &limits);
    if (command_given(line, "json")) {
        imported_json(&imported, out);
        text_add(out, "\n");
    } else {
        imported_text(&imported, out);
    }
    import_release(&import);
    return (int)verdict_exit_code(imported.finding.verdict);
}

int check_imported(const struct command_line *line, const char *path, struct text *out,
                   struct error *error)
{
    struct input input = {0};
    struct slice text;
    int rc = read_all(path, &input, &text, error);
    if (rc == 0)
        rc = judge_text(line, path, text, out, error);
    input_release(&input);
    return rc;
}

bool check_looks_foreign(const char *path)
{
    struct input input = {0};
    enum import_format format;
    if (input_open_file(&input, path) < 0)
        return false;
    size_t length = input_need(&input, LOOK_BYTES);
    struct slice text = {(const char *)input.at, length < LOOK_BYTES ? length : LOOK_BYTES};
    bool foreign = !is_coup(text) && import_detect(text, &format) &&
                   (format != IMPORT_EDN || memchr(text.at, ':', text.length));
    input_release(&input);
    return foreign;
}
