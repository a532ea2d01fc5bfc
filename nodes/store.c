/* The file: magic, version, node, run, algorithm, words, CRC32C of all before it; integers
 * little-endian, the length fixed. */
#include "nodes/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "histories/crc32c.h"

#define MAGIC "coupnode"
#define VERSION 1u
#define ALGORITHM_BYTES 24u

enum {
    AT_VERSION = 8,
    AT_NODE = AT_VERSION + 4,
    AT_RUN = AT_NODE + 4,
    AT_ALGORITHM = AT_RUN + 8,
    AT_WORDS = AT_ALGORITHM + ALGORITHM_BYTES,
    AT_CHECK = AT_WORDS + 8 * DURABLE_WORDS,
    FILE_BYTES = AT_CHECK + 4
};

static void put(uint8_t *at, uint64_t value, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get(const uint8_t *at, uint32_t bytes)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

static void encode(const struct store_owner *owner, const struct durable *durable,
                   uint8_t file[FILE_BYTES])
{
    memset(file, 0, FILE_BYTES);
    memcpy(file, MAGIC, AT_VERSION);
    put(file + AT_VERSION, VERSION, 4);
    put(file + AT_NODE, owner->node, 4);
    put(file + AT_RUN, owner->run, 8);
    memcpy(file + AT_ALGORITHM, owner->algorithm, strnlen(owner->algorithm, ALGORITHM_BYTES));
    for (uint32_t i = 0; i < DURABLE_WORDS; i++)
        put(file + AT_WORDS + 8 * (size_t)i, durable->word[i], 8);
    put(file + AT_CHECK, crc32c(0, file, AT_CHECK), 4);
}

/* What the file is comes before whether it is whole, so that the message says the useful thing. */
static int decode(const struct store_owner *owner, const uint8_t *file, size_t length,
                  struct durable *out, struct error *error)
{
    if (length < AT_VERSION || memcmp(file, MAGIC, AT_VERSION) != 0)
        return error_set(error, -EBADMSG, "not a node's state (%zu bytes)", length);
    if (length != FILE_BYTES)
        return error_set(error, -EBADMSG, "%zu bytes, where a node's state has %d", length,
                         FILE_BYTES);
    if (get(file + AT_CHECK, 4) != crc32c(0, file, AT_CHECK))
        return error_set(error, -EBADMSG, "damaged (its checksum does not fit)");
    if (get(file + AT_VERSION, 4) != VERSION)
        return error_set(error, -EBADMSG, "version %" PRIu64 ", where %u is known",
                         get(file + AT_VERSION, 4), VERSION);
    if (get(file + AT_NODE, 4) != owner->node)
        return error_set(error, -EBADMSG, "the state of node %" PRIu64 ", not of node %" PRIu32,
                         get(file + AT_NODE, 4), owner->node);
    if (get(file + AT_RUN, 8) != owner->run)
        return error_set(error, -EBADMSG, "the state of another run (%016" PRIx64 ")",
                         get(file + AT_RUN, 8));
    const char *algorithm = (const char *)file + AT_ALGORITHM;
    if (strncmp(algorithm, owner->algorithm, ALGORITHM_BYTES) != 0)
        return error_set(error, -EBADMSG, "the state of algorithm '%.*s', not '%s'",
                         (int)ALGORITHM_BYTES, algorithm, owner->algorithm);
    for (uint32_t i = 0; i < DURABLE_WORDS; i++)
        out->word[i] = get(file + AT_WORDS + 8 * (size_t)i, 8);
    return 0;
}

static int failed(struct error *error, const char *what, const char *name)
{
    int code = errno;
    return error_set(error, -code, "%s %s: %s", what, name, strerror(code));
}

static int write_all(int file, struct slice bytes)
{
    while (bytes.length > 0) {
        ssize_t written = write(file, bytes.at, bytes.length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -1;
        bytes.at += written;
        bytes.length -= (size_t)written;
    }
    return 0;
}

/* A slow disk lets itself be interrupted, by a pause for one. */
static int sync_file(int file)
{
    int rc;
    do
        rc = fsync(file);
    while (rc < 0 && errno == EINTR);
    return rc;
}

static int open_at(int folder, const char *name, int flags)
{
    int file;
    do
        file = openat(folder, name, flags | O_CLOEXEC, 0644);
    while (file < 0 && errno == EINTR);
    return file;
}

static int rename_at(int folder, const char *from, const char *to)
{
    int rc;
    do
        rc = renameat(folder, from, folder, to);
    while (rc < 0 && errno == EINTR);
    return rc;
}

static int write_new(int folder, const char *name, struct slice bytes, bool sync,
                     struct error *error)
{
    int file = open_at(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW);
    if (file < 0)
        return failed(error, "create", name);
    int rc = 0;
    if (write_all(file, bytes) < 0)
        rc = failed(error, "write", name);
    else if (sync && sync_file(file) < 0)
        rc = failed(error, "fsync", name);
    if (close(file) < 0 && rc == 0)
        rc = failed(error, "close", name);
    return rc;
}

#define DRAFT_NAME_MAX (STORE_NAME_MAX + 8)

static const char *draft_name(const char *name, char buffer[DRAFT_NAME_MAX])
{
    (void)snprintf(buffer, DRAFT_NAME_MAX, "%s.new", name);
    return buffer;
}

/* Put the draft into its place. */
static int place(int folder, const char *name, bool sync, struct error *error)
{
    char draft[DRAFT_NAME_MAX];
    if (rename_at(folder, draft_name(name, draft), name) < 0)
        return failed(error, "rename to", name);
    if (sync && sync_file(folder) < 0)
        return failed(error, "fsync the folder of", name);
    return 0;
}

int store_replace(int folder, const char *name, struct slice bytes, struct error *error)
{
    char draft[DRAFT_NAME_MAX];
    int rc = write_new(folder, draft_name(name, draft), bytes, true, error);
    return rc < 0 ? rc : place(folder, name, true, error);
}

int store_folder(const char *path, int *ret_folder, struct error *error)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return failed(error, "open state folder", path);
    *ret_folder = folder;
    return 0;
}

static ssize_t read_all(int file, uint8_t *bytes, size_t room)
{
    size_t length = 0;
    while (length < room) {
        ssize_t got = read(file, bytes + length, room - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        length += (size_t)got;
    }
    return (ssize_t)length;
}

static int read_words(const struct store *store, struct durable *out, struct error *error)
{
    uint8_t bytes[FILE_BYTES + 1]; /* one more than allowed, to see that it is too long */
    int file = open_at(store->folder, store->name, O_RDONLY);
    if (file < 0 && errno == ENOENT)
        return 0; /* a new disk */
    if (file < 0)
        return failed(error, "open", store->name);
    ssize_t length = read_all(file, bytes, sizeof bytes);
    int rc = length < 0 ? failed(error, "read", store->name)
                        : decode(&store->owner, bytes, (size_t)length, out, error);
    if (length >= 0 && rc < 0)
        error_prefix(error, "%s", store->name);
    (void)close(file); /* only read */
    return rc;
}

int store_open(const char *folder, const struct store_owner *owner, struct store *out,
               struct durable *ret_durable, struct error *error)
{
    struct store store = {.owner = *owner, .folder = -1};
    struct durable durable = {0};
    (void)snprintf(store.name, sizeof store.name, "node-%" PRIu32 ".state", owner->node);
    int rc = store_folder(folder, &store.folder, error);
    if (rc < 0)
        return rc;
    rc = read_words(&store, &durable, error);
    if (rc < 0) {
        error_prefix(error, "state in %s", folder);
        store_release(&store);
        return rc;
    }
    *out = store;
    *ret_durable = durable;
    return 0;
}

int store_draft(const struct store *store, const struct durable *durable, bool sync,
                struct error *error)
{
    uint8_t file[FILE_BYTES];
    char draft[DRAFT_NAME_MAX];
    encode(&store->owner, durable, file);
    return write_new(store->folder, draft_name(store->name, draft),
                     (struct slice){(const char *)file, FILE_BYTES}, sync, error);
}

int store_place(const struct store *store, bool sync, struct error *error)
{
    return place(store->folder, store->name, sync, error);
}

int store_write(const struct store *store, const struct durable *durable, struct error *error)
{
    int rc = store_draft(store, durable, true, error);
    return rc < 0 ? rc : store_place(store, true, error);
}

void store_release(struct store *store)
{
    if (store->folder >= 0)
        (void)close(store->folder); /* nothing was written through it */
    store->folder = -1;
}

/* ---- copies ---- */

#define COPY_BYTES_MAX 65536u

static int copy_file(int from, int to, const char *name, struct error *error)
{
    static uint8_t bytes[COPY_BYTES_MAX];
    int file = open_at(from, name, O_RDONLY | O_NOFOLLOW);
    if (file < 0)
        return errno == ENOENT ? 0 : failed(error, "open", name); /* a draft that took its place */
    struct stat about;
    bool ours = fstat(file, &about) == 0 && S_ISREG(about.st_mode);
    ssize_t length = ours ? read_all(file, bytes, sizeof bytes) : 0;
    int rc = length < 0 ? failed(error, "read", name) : 0;
    (void)close(file); /* only read */
    return rc < 0 || !ours
               ? rc
               : store_replace(to, name, (struct slice){(const char *)bytes, (size_t)length},
                               error);
}

/* Names as ours are, not ".", ".." or a long one; false at the end. */
static bool next_name(DIR *folder, char name[STORE_NAME_MAX])
{
    struct dirent *entry;
    do
        entry = readdir(folder);
    while (entry && (entry->d_name[0] == '.' || strlen(entry->d_name) >= STORE_NAME_MAX));
    if (entry)
        memcpy(name, entry->d_name, strlen(entry->d_name) + 1);
    return entry != NULL;
}

static DIR *list_folder(const char *path, struct error *error)
{
    DIR *folder = opendir(path);
    if (!folder)
        (void)failed(error, "open state folder", path);
    return folder;
}

int store_copy(const char *from, const char *to, struct error *error)
{
    DIR *source = list_folder(from, error);
    DIR *target = source ? list_folder(to, error) : NULL;
    int rc = target ? 0 : -errno;
    char name[STORE_NAME_MAX];
    bool fresh = target && !next_name(target, name);
    while (rc == 0 && fresh && next_name(source, name))
        rc = copy_file(dirfd(source), dirfd(target), name, error);
    if (target)
        (void)closedir(target);
    if (source)
        (void)closedir(source);
    return rc;
}
