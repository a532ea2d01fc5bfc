#define _GNU_SOURCE
#include "controller/suite_journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#define FORMAT 1

static int put(int fd, const struct text *line, struct error *error)
{
    size_t done = 0;
    while (done < line->length) {
        ssize_t wrote = write(fd, line->at + done, line->length - done);
        if (wrote < 0 && errno != EINTR)
            return error_set(error, -errno, "write the suite's journal: %s", strerror(errno));
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    return 0;
}

int suite_journal_create(const char *folder, const struct suite_journal_head *head, int *ret_fd,
                         struct error *error)
{
    struct text path = {0}, line = {0};
    text_add(&path, "%s/%s", folder, SUITE_JOURNAL);
    int fd = open(text_string(&path), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    int rc =
        fd < 0 ? error_set(error, -errno, "create %s: %s", text_string(&path), strerror(errno)) : 0;
    text_add(&line, "{\"coup_suite\":%d,\"name\":", FORMAT);
    text_add_json(&line, slice_of(head->name));
    text_add(&line, ",\"digest\":\"%s\",\"shard\":\"%s\",\"only\":", head->digest, head->shard);
    text_add_json(&line, slice_of(head->only));
    text_add(&line, "}\n");
    if (rc == 0)
        rc = put(fd, &line, error);
    if (rc == 0)
        *ret_fd = fd;
    else if (fd >= 0)
        (void)close(fd);
    text_release(&path);
    text_release(&line);
    return rc;
}

static void text_of(const json_t *object, const char *name, char *out, size_t size)
{
    const char *text = json_string_value(json_object_get(object, name));
    (void)snprintf(out, size, "%s", text ? text : "");
}

static int read_head(struct slice line, const char *path, struct suite_journal_head *out,
                     struct error *error)
{
    json_t *root = json_loadb(line.at, line.length, 0, NULL);
    json_int_t format = json_integer_value(json_object_get(root, "coup_suite"));
    text_of(root, "name", out->name, sizeof out->name);
    text_of(root, "digest", out->digest, sizeof out->digest);
    text_of(root, "shard", out->shard, sizeof out->shard);
    text_of(root, "only", out->only, sizeof out->only);
    json_decref(root);
    if (format == 0)
        return error_usage(error, "%s: not a suite's journal", path);
    if (format != FORMAT)
        return error_usage(error, "%s: of a newer coup (format %d, this one reads %d)", path,
                           (int)format, FORMAT);
    return 0;
}

/* Up to the last whole line that can be read; returns how many bytes that is. */
static int read_lines(FILE *file, const char *path, struct suite_journal_head *head,
                      void (*take)(void *context, const struct suite_record *record), void *context,
                      off_t *ret_whole, struct error *error)
{
    struct suite_record *record = must_alloc(1, sizeof *record);
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    int rc = 0;
    bool first = true, whole = true;
    *ret_whole = 0;
    while (rc == 0 && whole && (length = getline(&line, &room, file)) > 0) {
        struct slice slice = {line, (size_t)length};
        whole = line[length - 1] == '\n';
        if (whole && first)
            rc = read_head(slice, path, head, error);
        else if (whole && (whole = suite_record_parse(slice, record) == 0))
            take(context, record);
        first = false;
        *ret_whole += whole ? length : 0;
    }
    if (rc == 0 && *ret_whole == 0)
        rc = error_usage(error, "%s: not a suite's journal", path);
    free(line);
    free(record);
    return rc;
}

static int go_on(const char *path, off_t whole, int *ret_fd, struct error *error)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0 || ftruncate(fd, whole) < 0) {
        int code = errno;
        if (fd >= 0)
            (void)close(fd);
        return error_set(error, -code, "go on with %s: %s", path, strerror(code));
    }
    *ret_fd = fd;
    return 0;
}

int suite_journal_read(const char *folder, struct suite_journal_head *head,
                       void (*take)(void *context, const struct suite_record *record),
                       void *context, int *ret_fd, struct error *error)
{
    struct text path = {0};
    off_t whole = 0;
    text_add(&path, "%s/%s", folder, SUITE_JOURNAL);
    FILE *file = fopen(text_string(&path), "re");
    int rc = file ? read_lines(file, text_string(&path), head, take, context, &whole, error)
                  : error_usage(error, "%s: %s", text_string(&path), strerror(errno));
    if (file)
        (void)fclose(file); /* only read */
    if (rc == 0 && ret_fd)
        rc = go_on(text_string(&path), whole, ret_fd, error);
    text_release(&path);
    return rc;
}

int suite_journal_append(int fd, const struct suite_record *record, struct error *error)
{
    struct text line = {0};
    suite_record_format(record, &line);
    text_add(&line, "\n");
    int rc = put(fd, &line, error);
    text_release(&line);
    return rc;
}
