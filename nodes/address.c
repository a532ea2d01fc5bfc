#include "nodes/address.h"

#include <stdio.h>

static const uint32_t first_of[PROCESS_KINDS] = {
    [PROCESS_NODE] = 0,
    [PROCESS_CLIENT] = ADDRESS_CLIENTS,
    [PROCESS_RESOURCE] = ADDRESS_RESOURCE,
    [PROCESS_COORDINATOR] = ADDRESS_COORDINATOR,
};

uint32_t address_of(uint32_t base, uint32_t process)
{
    switch (process_kind(process)) {
    case PROCESS_NODE:
    case PROCESS_CLIENT:
    case PROCESS_COORDINATOR:
    case PROCESS_RESOURCE: return base + first_of[process_kind(process)] + process_index(process);
    case PROCESS_TWIN: return base + ADDRESS_TWIN;
    default: return 0;
    }
}

/* One decimal number of 0..255 without needless zeros. */
static bool take_octet(const char **at, uint32_t *out)
{
    const char *first = *at;
    uint32_t value = 0;
    while (**at >= '0' && **at <= '9' && *at - first < 3)
        value = value * 10 + (uint32_t)(*(*at)++ - '0');
    *out = value;
    return *at > first && value <= 255 && (*first != '0' || *at - first == 1);
}

int address_parse(const char *text, uint32_t *ret_base, struct error *error)
{
    const char *at = text;
    uint32_t base = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t octet = 0;
        if ((i > 0 && *at++ != '.') || !take_octet(&at, &octet))
            return error_usage(error, "'%.40s' is not an address such as 10.1.2.0", text);
        base = base << 8 | octet;
    }
    if (*at != '\0' || (base & 0xff) != 0)
        return error_usage(error, "'%.40s' is not the first address of a /24, such as 10.1.2.0",
                           text);
    *ret_base = base;
    return 0;
}

const char *address_format(uint32_t address, char buffer[ADDRESS_TEXT_MAX])
{
    (void)snprintf(buffer, ADDRESS_TEXT_MAX, "%u.%u.%u.%u", address >> 24, address >> 16 & 0xff,
                   address >> 8 & 0xff, address & 0xff);
    return buffer;
}
