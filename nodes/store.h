/* A node's durable words in one file of its state folder. A write is durable when it returns: new
 * file, fsync, rename over the old one, fsync of the folder; a crash at any point leaves the old
 * words or the new ones. Every byte of the file is checked when it is read. */
#ifndef COUP_NODES_STORE_H
#define COUP_NODES_STORE_H

#include "base/error.h"
#include "base/text.h"
#include "nodes/elector.h"

/* Whose words they are: a file of anybody else is refused. */
struct store_owner {
    uint32_t node;
    uint64_t run;
    const char *algorithm;
};

#define STORE_NAME_MAX 32
struct store {
    struct store_owner owner; /* borrows the algorithm's name */
    int folder;               /* descriptor; -1 when released */
    char name[STORE_NAME_MAX];
};

/* Read what is stored; zeroed words when there is no file (a new disk). A file that is truncated,
 * damaged, foreign, of another version, run, algorithm or node is an error that names it. */
int store_open(const char *folder, const struct store_owner *owner, struct store *out,
               struct durable *ret_durable, struct error *error);
int store_write(const struct store *store, const struct durable *durable, struct error *error);

/* Its two halves: the new file is written, then it takes the old one's place. Without `sync` (a
 * planted bug's way) a power loss takes it back. */
int store_draft(const struct store *store, const struct durable *durable, bool sync,
                struct error *error);
int store_place(const struct store *store, bool sync, struct error *error);

void store_release(struct store *store);

/* Whatever small files the folder `from` has, `to` gets, unless it has any already: what a copied
 * disk finds. One that is replaced meanwhile comes whole, the old one or the new one. */
int store_copy(const char *from, const char *to, struct error *error);

/* The same careful replacement for any small file: `name` in the folder `folder` has exactly these
 * bytes, or what it had before. */
int store_replace(int folder, const char *name, struct slice bytes, struct error *error);

/* Open a state folder. */
int store_folder(const char *path, int *ret_folder, struct error *error);

#endif
