/* Bytes as EDN: nothing crashes, and what is read is read again from what it was written as. */
#include <assert.h>
#include <string.h>

#include "histories/edn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool rewrite(struct slice input, struct text *out)
{
    struct edn edn;
    struct error error;
    uint32_t value;
    int64_t number;
    int rc;
    edn_open(&edn, input);
    while ((rc = edn_next(&edn, &value, &error)) > 0) {
        assert(edn.began < edn.at && edn.at <= input.length);
        (void)edn_integer(edn_at(&edn, value), &number);
        edn_write(&edn, edn_at(&edn, value), out);
        text_add(out, "\n");
    }
    assert(rc == 0 || (error.kind == ERROR_USAGE && strncmp(error.text, "line ", 5) == 0));
    edn_release(&edn);
    return rc == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text once = {0}, twice = {0};
    if (rewrite((struct slice){(const char *)data, size}, &once)) {
        bool again = rewrite((struct slice){text_string(&once), once.length}, &twice);
        assert(again && once.length == twice.length);
        assert(once.length == 0 || memcmp(once.at, twice.at, once.length) == 0);
    }
    text_release(&once);
    text_release(&twice);
    return 0;
}
