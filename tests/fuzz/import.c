/* Bytes as a history of another tool, of the model and the options that the first byte names:
 * nothing crashes, a refusal names the line, a verdict has words and witnesses. */
#include <assert.h>

#include "report/imported.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Small enough that no input takes long. */
static const struct search_limits limits = {200000, UINT64_C(16) << 20};

static uint32_t models(void)
{
    uint32_t count = 0;
    while (linear_models[count])
        count++;
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct import import;
    struct error error;
    struct text out = {0};
    if (size == 0)
        return 0;
    struct slice text = {(const char *)data + 1, size - 1};
    struct import_options options = {.model = linear_models[data[0] % models()],
                                     .nil = data[0] & 0x80 ? NIL_IS_VALUE : NIL_BY_FORMAT,
                                     .fail = data[0] & 0x40 ? FAIL_IS_REFUSED : FAIL_BY_FORMAT};
    if (import_history(text, &options, &import, &error) < 0) {
        assert(error.kind == ERROR_USAGE && error.text[0]);
        return 0;
    }
    struct imported imported = {.text = text, .path = "history"};
    imported_judge(&imported, &import, &limits);
    assert(imported.finding.verdict == VERDICT_VALID || imported.finding.reason[0]);
    for (uint32_t i = 0; i < imported.finding.witness_count; i++)
        assert(imported.finding.witness[i] < import.entry_count);
    imported_text(&imported, &out);
    imported_json(&imported, &out);
    text_release(&out);
    import_release(&import);
    return 0;
}
