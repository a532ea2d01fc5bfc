/* Whatever is written to coup-switch: understood or refused, and what is understood reads the same
 * when written again. */
#include "nemesis/network/switch_command.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct switch_command command = {0}, again = {0};
    struct error error;
    struct text text = {0};
    const struct slice input = {(const char *)bytes, length};
    if (switch_command_parse(input, 9, &command, &error) < 0)
        return 0;
    switch_command_format(command.verb, command.links, command.link_count, &text);
    const struct slice written = {text_string(&text), text.length};
    int rc = switch_command_parse(written, 9, &again, &error);
    assert(rc == 0 && again.link_count == command.link_count);
    for (uint32_t i = 0; i < command.link_count; i++)
        assert(impairment_equal(&command.links[i].impairment, &again.links[i].impairment));
    (void)rc;
    switch_command_release(&command);
    switch_command_release(&again);
    text_release(&text);
    return 0;
}
