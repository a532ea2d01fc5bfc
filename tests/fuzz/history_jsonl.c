/* Bytes as JSON lines: nothing crashes, and what was read, written and read again stays the same.
 * An odd first byte puts the rest behind a good header line. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "histories/jsonl.h"
#include "tests/history_sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes as JSON lines; false if they are no history. */
static bool rewrite(struct slice bytes, struct text *out)
{
    struct history_reader *reader;
    struct error error;
    char *lines = NULL;
    size_t length = 0;
    if (history_open_bytes(bytes, &reader, &error) < 0) {
        assert(error.kind == ERROR_USAGE && error.text[0]);
        return false;
    }
    FILE *stream = open_memstream(&lines, &length);
    int rc = history_to_jsonl(reader, stream, &error);
    assert(rc == 0 && fclose(stream) == 0);
    text_add_bytes(out, lines, length);
    free(lines);
    history_reader_close(reader);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text input = {0}, once = {0}, twice = {0};
    bool headed = size > 0 && data[0] & 1 && data[0] != '{';
    if (headed) {
        struct history_header header = sample_header();
        header_to_json(&header, &input);
        text_add(&input, "\n");
    }
    text_add_bytes(&input, data + (headed ? 1 : 0), size - (headed ? 1 : 0));
    if (rewrite((struct slice){input.at, input.length}, &once)) {
        bool again = rewrite((struct slice){once.at, once.length}, &twice);
        assert(again && once.length == twice.length);
        assert(memcmp(once.at, twice.at, once.length) == 0);
    }
    text_release(&input);
    text_release(&once);
    text_release(&twice);
    return 0;
}
