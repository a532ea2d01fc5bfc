/* script FILE: run a data script and compare what it prints with what the file says. A script is
 * blocks: comment lines, command lines, "----", the output up to an empty line. COUP_REWRITE=1
 * writes the outputs anew; an expectation that does not hold fails even then, because a script's
 * point must not be blessed away. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/script/commands.h"

#define FILE_BYTES_MAX (1u << 20)

struct script {
    const char *path;
    const char *at; /* unread rest */
    unsigned line_number;
    struct text rewritten;
    struct world world;
    struct text trace;
    struct text past; /* the lines since `cluster`, for `again` */
};

static int read_file(const char *path, struct text *out)
{
    char buffer[4096];
    FILE *file = fopen(path, "r");
    if (!file)
        return -errno;
    size_t length;
    while ((length = fread(buffer, 1, sizeof buffer, file)) > 0 && out->length < FILE_BYTES_MAX)
        text_add_bytes(out, buffer, length);
    int rc = ferror(file) ? -EIO : 0;
    (void)fclose(file); /* only read from */
    return rc;
}

static int write_file(const char *path, const struct text *text)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return -errno;
    size_t written = fwrite(text->at, 1, text->length, file);
    return fclose(file) == 0 && written == text->length ? 0 : -EIO;
}

static bool next_line(struct script *script, struct text *out)
{
    if (*script->at == '\0')
        return false;
    size_t length = strcspn(script->at, "\n");
    text_clear(out);
    text_add_bytes(out, script->at, length);
    script->at += length + (script->at[length] == '\n');
    script->line_number++;
    return true;
}

static int complain(const struct script *script, const char *reason)
{
    (void)fprintf(stderr, "%s:%u: %s\n", script->path, script->line_number, reason);
    return -1;
}

/* Compare the output with the lines up to an empty one, or the end of the file. */
static int compare(struct script *script, struct text *line, bool rewriting)
{
    const char *got = text_string(&script->trace);
    bool same = true;
    while (next_line(script, line) && line->length > 0) {
        size_t length = strcspn(got, "\n");
        same = same && line->length == length && memcmp(got, line->at, length) == 0;
        if (!same && !rewriting) {
            (void)fprintf(stderr, "wanted: %s\ngot:    %.*s\n", line->at, (int)length, got);
            return complain(script, "the output differs");
        }
        got += length + (got[length] == '\n');
    }
    if (*got != '\0' && !rewriting) {
        (void)fprintf(stderr, "got more:\n%s", got);
        return complain(script, "the output differs");
    }
    return 0;
}

static int finish_block(struct script *script, struct text *line, bool rewriting)
{
    if (script->trace.length == 0)
        text_add(&script->trace, "ok\n");
    text_add(&script->rewritten, "----\n%s\n", text_string(&script->trace));
    int rc = compare(script, line, rewriting);
    text_clear(&script->trace);
    return rc;
}

/* A fresh world under the same trace. */
static void reset_world(struct script *script)
{
    world_release(&script->world);
    memset(&script->world, 0, sizeof script->world);
    script->world.trace = &script->trace;
}

/* again ALGORITHM: the same cluster and commands, expectations left out, with another algorithm. So
 * a planted bug is shown beside the honest code under one and the same schedule. */
static int run_again(struct script *script, const char *algorithm, struct error *error)
{
    struct text line = {0};
    int rc = script->past.length ? 0 : error_usage(error, "again: nothing came before");
    reset_world(script);
    for (const char *at = text_string(&script->past); rc == 0 && *at;) {
        size_t length = strcspn(at, "\n"), name = strcspn(at, " \n");
        text_clear(&line);
        if (at == script->past.at) { /* cluster ALGORITHM ... */
            size_t old = strcspn(at + name + 1, " \n");
            text_add(&line, "cluster %s", algorithm);
            text_add_bytes(&line, at + name + 1 + old, length - name - 1 - old);
        } else {
            text_add_bytes(&line, at, length);
        }
        text_add(&script->trace, "> %s\n", line.at);
        rc = command_run(&script->world, line.at, error);
        at += length + 1;
    }
    text_release(&line);
    return rc;
}

static int run_line(struct script *script, const char *line)
{
    struct error error = {0};
    int rc;
    if (strncmp(line, "again ", 6) == 0) {
        rc = run_again(script, line + 6, &error);
        return rc < 0 ? complain(script, error.text) : 0;
    }
    if (strncmp(line, "cluster ", 8) == 0) {
        reset_world(script);
        text_clear(&script->past);
    }
    rc = command_run(&script->world, line, &error);
    if (strncmp(line, "expect-", 7) != 0)
        text_add(&script->past, "%s\n", line);
    return rc < 0 ? complain(script, error.text) : 0;
}

static int run_script(struct script *script, bool rewriting)
{
    struct text line = {0};
    bool open = false;
    int rc = 0;
    while (rc == 0 && next_line(script, &line)) {
        if (strcmp(line.at, "----") == 0) {
            rc = finish_block(script, &line, rewriting);
            open = false;
            continue;
        }
        text_add(&script->rewritten, "%s\n", line.at);
        if (line.length == 0 || line.at[0] == '#')
            continue;
        open = true;
        rc = run_line(script, line.at);
    }
    if (rc == 0 && open)
        rc = complain(script, "commands without a ---- line");
    text_release(&line);
    return rc;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        (void)fprintf(stderr, "usage: script FILE\n");
        return 64;
    }
    const char *rewrite = getenv("COUP_REWRITE");
    bool rewriting = rewrite && strcmp(rewrite, "1") == 0;
    struct script *script = must_alloc(1, sizeof *script);
    struct text source = {0};
    script->path = argv[1];
    int rc = read_file(argv[1], &source);
    if (rc < 0) {
        (void)fprintf(stderr, "%s: %s\n", argv[1], strerror(-rc));
    } else {
        script->at = text_string(&source);
        script->world.trace = &script->trace;
        rc = run_script(script, rewriting);
        if (rc == 0 && rewriting)
            rc = write_file(argv[1], &script->rewritten);
        world_release(&script->world);
    }
    text_release(&script->past);
    text_release(&script->rewritten);
    text_release(&script->trace);
    text_release(&source);
    free(script);
    return rc == 0 ? 0 : 1;
}
