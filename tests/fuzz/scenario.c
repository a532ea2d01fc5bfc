/* Any bytes as a scenario: refused or read, never a crash. */
#include "nemesis/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct scenario scenario;
    struct error error;
    if (scenario_parse("fuzz", (struct slice){(const char *)bytes, length}, &scenario, &error) == 0)
        scenario_release(&scenario);
    return 0;
}
