/* What this program is: goes into `coup --version` and every history's header. */
#ifndef COUP_CONTROLLER_VERSION_H
#define COUP_CONTROLLER_VERSION_H

/* "0.1.0 (abc1234567)", with a "+" after the commit when the tree had changes. Static. */
const char *version_text(void);

#endif
