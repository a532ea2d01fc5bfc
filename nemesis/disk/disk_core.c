#include "nemesis/disk/disk_core.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/units.h"

struct file {
    uint64_t number, holds;
    struct text now, synced;
};

struct name {
    char *name;
    uint64_t file;
};

struct names {
    struct name *at;
    uint32_t count, capacity;
};

enum operation_kind { OPERATION_LINK, OPERATION_UNLINK, OPERATION_WRITE, OPERATION_RESIZE };

/* A rename is one operation: it links the new name and unlinks the old one. */
struct operation {
    enum operation_kind kind;
    uint64_t file;
    uint64_t at;        /* offset of a write, new size */
    char *name, *other; /* what is linked or unlinked; a rename's old name, or NULL */
    struct text bytes;
};

struct disk_core {
    struct file **files;
    uint32_t file_count, file_capacity;
    struct names now, synced;
    struct operation *journal;
    uint32_t journal_count, journal_capacity;
    uint64_t last_number;
};

struct disk_core *disk_core_new(void)
{
    struct disk_core *core = must_alloc(1, sizeof *core);
    core->last_number = DISK_FOLDER;
    return core;
}

/* ---- names ---- */

static struct name *find_name(const struct names *names, const char *name)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (strcmp(names->at[i].name, name) == 0)
            return &names->at[i];
    return NULL;
}

static void take_name(struct names *names, const char *name)
{
    struct name *at = find_name(names, name);
    if (!at)
        return;
    free(at->name);
    *at = names->at[--names->count];
}

static void put_name(struct names *names, const char *name, uint64_t file)
{
    take_name(names, name);
    if (names->count == names->capacity) {
        names->capacity = names->capacity ? names->capacity * 2 : 4;
        names->at = must_grow(names->at, names->capacity, sizeof *names->at);
    }
    names->at[names->count++] = (struct name){must_copy(name), file};
}

static void clear_names(struct names *names)
{
    for (uint32_t i = 0; i < names->count; i++)
        free(names->at[i].name);
    names->count = 0;
}

static bool has_file(const struct names *names, uint64_t file)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (names->at[i].file == file)
            return true;
    return false;
}

/* ---- files ---- */

static struct file *find_file(const struct disk_core *core, uint64_t number)
{
    for (uint32_t i = 0; i < core->file_count; i++)
        if (core->files[i]->number == number)
            return core->files[i];
    return NULL;
}

static struct file *new_file(struct disk_core *core)
{
    struct file *file = must_alloc(1, sizeof *file);
    file->number = ++core->last_number;
    if (core->file_count == core->file_capacity) {
        core->file_capacity = core->file_capacity ? core->file_capacity * 2 : 4;
        core->files = must_grow(core->files, core->file_capacity, sizeof(struct file *));
    }
    core->files[core->file_count++] = file;
    return file;
}

static bool in_journal(const struct disk_core *core, uint64_t file)
{
    for (uint32_t i = 0; i < core->journal_count; i++)
        if (core->journal[i].file == file)
            return true;
    return false;
}

static bool is_needed(const struct disk_core *core, const struct file *file)
{
    return file->holds || has_file(&core->now, file->number) ||
           has_file(&core->synced, file->number) || in_journal(core, file->number);
}

static void drop_unneeded(struct disk_core *core)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < core->file_count; i++) {
        struct file *file = core->files[i];
        if (is_needed(core, file)) {
            core->files[kept++] = file;
            continue;
        }
        text_release(&file->now);
        text_release(&file->synced);
        free(file);
    }
    core->file_count = kept;
}

static void resize(struct text *bytes, uint64_t size)
{
    static const char zeros[4096];
    while (bytes->length < size) {
        uint64_t more = size - bytes->length;
        text_add_bytes(bytes, zeros, more < sizeof zeros ? (size_t)more : sizeof zeros);
    }
    bytes->length = (size_t)size;
}

static void overwrite(struct text *bytes, uint64_t offset, struct slice from)
{
    if (from.length == 0)
        return;
    if (bytes->length < offset + from.length)
        resize(bytes, offset + from.length);
    memcpy(bytes->at + offset, from.at, from.length);
}

static void copy(const struct text *from, struct text *to)
{
    text_clear(to);
    text_add_bytes(to, text_string(from), from->length);
}

/* ---- the journal ---- */

static void release_operation(struct operation *operation)
{
    free(operation->name);
    free(operation->other);
    text_release(&operation->bytes);
}

static void do_name(struct names *names, const struct operation *operation)
{
    if (operation->kind == OPERATION_UNLINK) {
        take_name(names, operation->name);
        return;
    }
    if (operation->other)
        take_name(names, operation->other);
    put_name(names, operation->name, operation->file);
}

static void do_bytes(struct text *bytes, const struct operation *operation)
{
    if (operation->kind == OPERATION_RESIZE)
        resize(bytes, operation->at);
    else
        overwrite(bytes, operation->at,
                  (struct slice){text_string(&operation->bytes), operation->bytes.length});
}

static bool is_of_names(const struct operation *operation)
{
    return operation->kind == OPERATION_LINK || operation->kind == OPERATION_UNLINK;
}

static void make_durable(struct disk_core *core, const struct operation *operation)
{
    if (is_of_names(operation))
        do_name(&core->synced, operation);
    else
        do_bytes(&find_file(core, operation->file)->synced, operation);
}

/* Takes over what the operation owns. */
static void carry_out(struct disk_core *core, struct operation operation)
{
    if (is_of_names(&operation))
        do_name(&core->now, &operation);
    else
        do_bytes(&find_file(core, operation.file)->now, &operation);
    if (core->journal_count == core->journal_capacity) {
        core->journal_capacity = core->journal_capacity ? core->journal_capacity * 2 : 16;
        core->journal = must_grow(core->journal, core->journal_capacity, sizeof *core->journal);
    }
    core->journal[core->journal_count++] = operation;
}

static void clear_journal(struct disk_core *core)
{
    for (uint32_t i = 0; i < core->journal_count; i++)
        release_operation(&core->journal[i]);
    core->journal_count = 0;
}

/* ---- what is asked of it ---- */

int disk_core_find(const struct disk_core *core, const char *name, uint64_t *ret_file)
{
    const struct name *at = find_name(&core->now, name);
    if (!at)
        return -ENOENT;
    *ret_file = at->file;
    return 0;
}

int disk_core_create(struct disk_core *core, const char *name, uint64_t *ret_file)
{
    if (strlen(name) > DISK_NAME_MAX)
        return -ENAMETOOLONG;
    if (find_name(&core->now, name))
        return -EEXIST;
    *ret_file = new_file(core)->number;
    carry_out(core, (struct operation){
                        .kind = OPERATION_LINK, .file = *ret_file, .name = must_copy(name)});
    return 0;
}

int disk_core_rename(struct disk_core *core, const char *from, const char *to)
{
    const struct name *at = find_name(&core->now, from);
    if (!at)
        return -ENOENT;
    if (strlen(to) > DISK_NAME_MAX)
        return -ENAMETOOLONG;
    if (strcmp(from, to) != 0)
        carry_out(core, (struct operation){.kind = OPERATION_LINK,
                                           .file = at->file,
                                           .name = must_copy(to),
                                           .other = must_copy(from)});
    return 0;
}

int disk_core_unlink(struct disk_core *core, const char *name)
{
    const struct name *at = find_name(&core->now, name);
    if (!at)
        return -ENOENT;
    carry_out(core, (struct operation){
                        .kind = OPERATION_UNLINK, .file = at->file, .name = must_copy(name)});
    return 0;
}

int disk_core_write(struct disk_core *core, uint64_t file, uint64_t offset, struct slice bytes)
{
    struct operation operation = {.kind = OPERATION_WRITE, .file = file, .at = offset};
    if (!find_file(core, file))
        return -ENOENT;
    if (bytes.length > DISK_FILE_BYTES_MAX || offset > DISK_FILE_BYTES_MAX - bytes.length)
        return -EFBIG;
    text_add_bytes(&operation.bytes, bytes.at, bytes.length);
    carry_out(core, operation);
    return 0;
}

int disk_core_resize(struct disk_core *core, uint64_t file, uint64_t size)
{
    if (!find_file(core, file))
        return -ENOENT;
    if (size > DISK_FILE_BYTES_MAX)
        return -EFBIG;
    carry_out(core, (struct operation){.kind = OPERATION_RESIZE, .file = file, .at = size});
    return 0;
}

int disk_core_read(const struct disk_core *core, uint64_t file, struct slice *out)
{
    const struct file *at = find_file(core, file);
    if (!at)
        return -ENOENT;
    *out = (struct slice){text_string(&at->now), at->now.length};
    return 0;
}

int disk_core_sync(struct disk_core *core, uint64_t file_or_folder)
{
    uint32_t kept = 0;
    if (file_or_folder != DISK_FOLDER && !find_file(core, file_or_folder))
        return -ENOENT;
    for (uint32_t i = 0; i < core->journal_count; i++) {
        struct operation *operation = &core->journal[i];
        bool meant = is_of_names(operation) ? file_or_folder == DISK_FOLDER
                                            : file_or_folder == operation->file;
        if (!meant) {
            core->journal[kept++] = *operation;
            continue;
        }
        make_durable(core, operation);
        release_operation(operation);
    }
    core->journal_count = kept;
    drop_unneeded(core);
    return 0;
}

const char *disk_core_name(const struct disk_core *core, uint32_t index, uint64_t *ret_file)
{
    if (index >= core->now.count)
        return NULL;
    *ret_file = core->now.at[index].file;
    return core->now.at[index].name;
}

void disk_core_hold(struct disk_core *core, uint64_t file)
{
    struct file *at = find_file(core, file);
    if (at)
        at->holds++;
}

void disk_core_let_go(struct disk_core *core, uint64_t file, uint64_t times)
{
    struct file *at = find_file(core, file);
    if (!at)
        return;
    at->holds -= times < at->holds ? times : at->holds;
    if (at->holds == 0)
        drop_unneeded(core);
}

uint32_t disk_core_unsynced(const struct disk_core *core)
{
    return core->journal_count;
}

/* ---- what befalls it ---- */

static void back_to_synced(struct disk_core *core)
{
    clear_journal(core);
    clear_names(&core->now);
    for (uint32_t i = 0; i < core->synced.count; i++)
        put_name(&core->now, core->synced.at[i].name, core->synced.at[i].file);
    for (uint32_t i = 0; i < core->file_count; i++)
        copy(&core->files[i]->synced, &core->files[i]->now);
    drop_unneeded(core);
}

uint32_t disk_core_power_loss(struct disk_core *core, uint64_t kept_ppm)
{
    uint64_t position = core->journal_count * kept_ppm;
    uint32_t whole = (uint32_t)(position / PPM_ONE), lost = core->journal_count - whole;
    for (uint32_t i = 0; i < whole; i++)
        make_durable(core, &core->journal[i]);
    if (lost > 0 && core->journal[whole].kind == OPERATION_WRITE) {
        struct operation *torn = &core->journal[whole];
        torn->bytes.length = (size_t)(torn->bytes.length * (position % PPM_ONE) / PPM_ONE);
        make_durable(core, torn);
    }
    back_to_synced(core);
    return lost;
}

void disk_core_wipe(struct disk_core *core)
{
    clear_names(&core->synced);
    for (uint32_t i = 0; i < core->file_count; i++)
        text_clear(&core->files[i]->synced);
    back_to_synced(core);
}

void disk_core_free(struct disk_core *core)
{
    if (!core)
        return;
    disk_core_wipe(core);
    for (uint32_t i = 0; i < core->file_count; i++)
        core->files[i]->holds = 0;
    drop_unneeded(core);
    free(core->now.at);
    free(core->synced.at);
    free(core->files);
    free(core->journal);
    free(core);
}
