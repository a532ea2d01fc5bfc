/* A schedule's line, from a user or a history: understood or refused, exact when written again. */
#include "nemesis/plan.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct text line = {0}, first = {0}, second = {0};
    struct scheduled_fault scheduled;
    struct error error;
    text_add_bytes(&line, bytes, length);
    if (scheduled_fault_parse(text_string(&line), 5, &scheduled, &error) == 0) {
        scheduled_fault_format(&scheduled, &first);
        int rc = scheduled_fault_parse(text_string(&first), 5, &scheduled, &error);
        assert(rc == 0);
        (void)rc;
        scheduled_fault_format(&scheduled, &second);
        assert(strcmp(text_string(&first), text_string(&second)) == 0);
    }
    text_release(&line);
    text_release(&first);
    text_release(&second);
    return 0;
}
