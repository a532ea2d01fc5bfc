#include "controller/version.h"

#include "coup_version.h"

const char *version_text(void)
{
    return COUP_VERSION " (" COUP_COMMIT ")";
}
