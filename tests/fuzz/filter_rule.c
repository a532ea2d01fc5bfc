/* Whatever a process is told of messages: understood or refused, and what is understood reads the
 * same when written again. */
#include "nodes/filter.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct filter_rule rule, again;
    struct text line = {0}, written = {0};
    const char *const *kinds = algorithms[0]->kinds;
    text_add_bytes(&line, (const char *)bytes, length);
    if (filter_rule_parse(text_string(&line), kinds, &rule, NULL) == 0) {
        filter_rule_format(&rule, kinds, &written);
        int rc = filter_rule_parse(text_string(&written), kinds, &again, NULL);
        assert(rc == 0 && rule.fault == again.fault && rule.deed == again.deed &&
               rule.senders == again.senders && rule.kind == again.kind &&
               rule.term == again.term && rule.left == again.left);
        (void)rc;
    }
    text_release(&line);
    text_release(&written);
    return 0;
}
