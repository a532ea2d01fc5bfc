/* CRC-32C (Castagnoli polynomial; RFC 3720 appendix B.4 has test values): finds every single-bit
 * and every burst error of up to 32 bits in a block. */
#ifndef COUP_HISTORIES_CRC32C_H
#define COUP_HISTORIES_CRC32C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Continue `crc` (0 to begin) over the bytes; with the processor's instruction where it has one. */
uint32_t crc32c(uint32_t crc, const void *bytes, size_t length);

/* The two ways, for tests. Hardware is false where this processor has no such instruction. */
uint32_t crc32c_portable(uint32_t crc, const void *bytes, size_t length);
bool crc32c_hardware(uint32_t crc, const void *bytes, size_t length, uint32_t *ret_crc);

#endif
