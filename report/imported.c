#include "report/imported.h"

#include <inttypes.h>

#include "base/units.h"
#include "report/verdict.h"

static const char check_name[] = "linearizable";

void imported_judge(struct imported *imported, struct import *import,
                    const struct search_limits *limits)
{
    struct finding *finding = &imported->finding;
    struct linear_result result;
    struct text reason = {0};
    uint64_t witness[LINEAR_WITNESS_MAX];
    uint32_t bad;
    import_check(import, limits, &result, &bad);
    imported->import = import;
    *finding = (struct finding){.judged = import->ended};
    finding_evidence(
        finding, "%" PRIu64 " operations of %u processes, %" PRIu64 " of unknown outcome besides",
        import->ended, import->process_count, import->unknown);
    if (result.fault != LINEAR_FINE) {
        import_explain(import, &result, &reason);
        uint32_t count = linear_witness(&result, witness);
        if (result.fault == LINEAR_GIVEN_UP)
            finding_unknown(finding, witness, count, "%s", text_string(&reason));
        else
            finding_invalid(finding, witness, count, "%s", text_string(&reason));
        for (; finding->verdict == VERDICT_INVALID && bad > 1; bad--)
            finding->violations++;
        text_release(&reason);
    }
}

static const char *nil_words(const struct import *import)
{
    return import->options.nil == NIL_IS_VALUE ? "value" : "unknown";
}

static const char *fail_words(const struct import *import)
{
    return import->options.fail == FAIL_IS_REFUSED ? "refused" : "not-done";
}

static void add_taken(const struct import *import, struct text *out)
{
    uint32_t fs = import->options.model->fs;
    text_add(out, "  model    %s", import->options.model->name);
    if (!(fs >> LINEAR_ACQUIRE & 1))
        text_add(out, ", initially %s", import->initial);
    if (fs & (1u << LINEAR_READ | 1u << LINEAR_TXN))
        text_add(out, ", a read of nil %s",
                 import->options.nil == NIL_IS_VALUE ? "found nil" : "is not known");
    if (fs >> LINEAR_CAS & 1)
        text_add(out, ", a failed cas %s",
                 import->options.fail == FAIL_IS_REFUSED ? "met another value"
                                                         : "did not take place");
    text_add(out, "\n");
}

static void add_counts(const struct imported *imported, struct text *out)
{
    char entries[COUNT_TEXT_MAX], keys[COUNT_TEXT_MAX];
    const struct import *import = imported->import;
    text_add(out, "  history  %s, %s, %s", imported->path, import_format_name(import->format),
             count_of(import->entry_count, "entry", entries));
    if (import->keys.count)
        text_add(out, ", %s", count_of(import->keys.count, "key", keys));
    text_add(out, "\n");
}

void imported_text(const struct imported *imported, struct text *out)
{
    const struct finding *finding = &imported->finding;
    const struct import *import = imported->import;
    char operations[COUNT_TEXT_MAX];
    struct report_style style = report_style(imported->colour, finding->verdict);
    if (imported->title)
        text_add(out, "%s: ", imported->title);
    text_add(out, "%s%s%s  ", style.on, report_headline(finding->verdict), style.off);
    if (finding->verdict == VERDICT_VALID && finding->judged == 0)
        text_add(out, "no operation ended, so nothing can be out of order\n");
    else if (finding->verdict == VERDICT_VALID)
        text_add(out, "1 check held over %s\n", count_of(finding->judged, "operation", operations));
    else
        text_add(out, "%s: %s\n", check_name, finding->reason);
    text_add(out, "\nChecks\n  %s  %s%s%s%*s%s", check_name, style.on,
             verdict_name(finding->verdict), style.off, finding->verdict == VERDICT_VALID ? 5 : 3,
             "", finding->verdict == VERDICT_VALID ? finding->evidence : finding->reason);
    if (finding->violations > 1)
        text_add(out, " (and %" PRIu64 " more keys)", finding->violations - 1);
    text_add(out, "\n");
    for (uint32_t i = 0; i < finding->witness_count; i++) {
        text_add(out, "    line %u: ", import->places[finding->witness[i]].line);
        import_quote(import, imported->text, finding->witness[i], out);
        text_add(out, "\n");
    }
    text_add(out, "\nSummary\n");
    add_counts(imported, out);
    add_taken(import, out);
}

static void add_string(struct text *out, const char *name, const char *value)
{
    text_add(out, "\"%s\":", name);
    text_add_json(out, slice_of(value));
}

static void add_witness(const struct imported *imported, bool lines, struct text *out)
{
    const struct finding *finding = &imported->finding;
    text_add(out, "[");
    for (uint32_t i = 0; i < finding->witness_count; i++)
        text_add(out, "%s%" PRIu64, i ? "," : "",
                 lines ? imported->import->places[finding->witness[i]].line : finding->witness[i]);
    text_add(out, "]");
}

void imported_json(const struct imported *imported, struct text *out)
{
    const struct finding *finding = &imported->finding;
    const struct import *import = imported->import;
    text_add(out, "{");
    add_string(out, "verdict", verdict_name(finding->verdict));
    text_add(out, ",\"checks\":[{");
    add_string(out, "name", check_name);
    text_add(out, ",");
    add_string(out, "verdict", verdict_name(finding->verdict));
    text_add(out, ",");
    add_string(out, "reason", finding->reason);
    text_add(out, ",\"judged\":%" PRIu64 ",", finding->judged);
    add_string(out, "evidence", finding->evidence);
    text_add(out, ",\"violations\":%" PRIu64 ",\"witness\":", finding->violations);
    add_witness(imported, false, out);
    text_add(out, ",\"lines\":");
    add_witness(imported, true, out);
    text_add(out, "}],\"not_owed\":[],\"stats\":{");
    add_string(out, "model", import->options.model->name);
    text_add(out, ",");
    add_string(out, "format", import_format_name(import->format));
    text_add(out, ",");
    add_string(out, "initial", import->initial);
    text_add(out, ",");
    add_string(out, "nil", nil_words(import));
    text_add(out, ",");
    add_string(out, "fail", fail_words(import));
    text_add(out,
             ",\"operations\":%" PRIu64 ",\"unknown\":%" PRIu64
             ",\"processes\":%u,\"keys\":%u},\"events\":%u,\"damage\":\"\",\"interrupted\":null,",
             import->ended, import->unknown, import->process_count, import->keys.count,
             import->entry_count);
    add_string(out, "history", imported->path);
    text_add(out, "}");
}
