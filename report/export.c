#include "report/export.h"

#include <errno.h>
#include <string.h>

#define OUT_BYTES ((size_t)64 << 10)

#define X(name) extern const struct export_form export_##name;
COUP_EXPORTS(X)
#undef X

const struct export_form *const export_forms[] = {
#define X(name) &export_##name,
    COUP_EXPORTS(X)
#undef X
        NULL};

const struct export_form *export_find(const char *name)
{
    for (const struct export_form *const *at = export_forms; *at; at++)
        if (strcmp((*at)->name, name) == 0)
            return *at;
    return NULL;
}

static int drain(struct text *text, FILE *out, struct error *error)
{
    errno = 0;
    if (text->length && fwrite(text->at, 1, text->length, out) != text->length)
        return error_set(error, errno ? -errno : -EIO, "write: %s", strerror(errno ? errno : EIO));
    text_clear(text);
    return 0;
}

int export_history(const struct export_form *form, struct history_reader *reader, FILE *out,
                   struct error *error)
{
    struct text text = {0};
    struct event event;
    int rc = 0;
    void *state = form->begin(history_header(reader), &text);
    while (rc == 0 && history_next(reader, &event) == 1) {
        form->event(state, &event, &text);
        if (text.length >= OUT_BYTES)
            rc = drain(&text, out, error);
    }
    form->end(state, &text);
    if (rc == 0)
        rc = drain(&text, out, error);
    text_release(&text);
    return rc;
}
