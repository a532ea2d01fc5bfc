#include "nodes/services/etcd_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/units.h"

/* Everything of ours lies in [coup/, coup0). */
#define ALL_FIRST "coup/"
#define ALL_END "coup0"
#define RECORDS_END "coup/record0"

/* --- base64 (RFC 4648 section 4) --- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void add_base64(struct text *out, const char *bytes)
{
    size_t length = strlen(bytes);
    text_add(out, "\"");
    for (size_t i = 0; i < length; i += 3) {
        uint32_t group = (uint32_t)(uint8_t)bytes[i] << 16;
        if (i + 1 < length)
            group |= (uint32_t)(uint8_t)bytes[i + 1] << 8;
        if (i + 2 < length)
            group |= (uint8_t)bytes[i + 2];
        text_add(out, "%c%c%c%c", digits[group >> 18], digits[group >> 12 & 63],
                 i + 1 < length ? digits[group >> 6 & 63] : '=',
                 i + 2 < length ? digits[group & 63] : '=');
    }
    text_add(out, "\"");
}

/* Into a terminated text; false: it is no base64, too long, or holds what is not printable. */
static bool read_base64(const char *text, char out[ETCD_KEY_MAX])
{
    size_t length = 0, bits = 0;
    uint32_t group = 0;
    for (; *text && *text != '='; text++) {
        const char *digit = strchr(digits, *text);
        if (!digit)
            return false;
        group = group << 6 | (uint32_t)(digit - digits);
        bits += 6;
        if (bits < 8)
            continue;
        bits -= 8;
        char byte = (char)(group >> bits & 0xff);
        if (length + 1 == ETCD_KEY_MAX || byte < ' ' || byte > '~')
            return false;
        out[length++] = byte;
    }
    out[length] = '\0';
    return text[strspn(text, "=")] == '\0';
}

/* --- answers --- */

/* A number as a string of digits, or as one; 0 where there is none. False: it is something else. */
static bool read_number(const json_t *object, const char *name, uint64_t *out)
{
    const json_t *value = json_object_get(object, name);
    *out = 0;
    if (!value)
        return true;
    if (json_is_integer(value) && json_integer_value(value) >= 0) {
        *out = (uint64_t)json_integer_value(value);
        return true;
    }
    if (!json_is_string(value))
        return false;
    return parse_count(json_string_value(value), out, NULL) == 0 && *out <= INT64_MAX;
}

static bool read_bytes(const json_t *object, const char *name, char out[ETCD_KEY_MAX])
{
    const json_t *value = json_object_get(object, name);
    out[0] = '\0';
    return !value || (json_is_string(value) && read_base64(json_string_value(value), out));
}

static bool read_kv(const json_t *object, struct etcd_kv *out)
{
    *out = (struct etcd_kv){0};
    return json_is_object(object) && read_bytes(object, "key", out->key) &&
           read_bytes(object, "value", out->value) &&
           read_number(object, "create_revision", &out->create) &&
           read_number(object, "mod_revision", &out->mod) &&
           read_number(object, "lease", &out->lease);
}

static bool read_kvs(const json_t *range, uint32_t from, struct etcd_reply *out)
{
    const json_t *kvs = json_object_get(range, "kvs");
    if (kvs && !json_is_array(kvs))
        return false;
    for (size_t i = 0; i < json_array_size(kvs); i++) {
        if (out->kv_count == ETCD_KVS_MAX ||
            !read_kv(json_array_get(kvs, i), &out->kvs[out->kv_count]))
            return false;
        out->kvs[out->kv_count++].from = from;
    }
    return true;
}

static bool read_responses(const json_t *root, struct etcd_reply *out)
{
    const json_t *responses = json_object_get(root, "responses");
    if (responses && !json_is_array(responses))
        return false;
    for (size_t i = 0; i < json_array_size(responses); i++) {
        const json_t *range = json_object_get(json_array_get(responses, i), "response_range");
        if (i >= ETCD_KVS_MAX || (range && !read_kvs(range, (uint32_t)i, out)))
            return false;
    }
    return true;
}

static bool read_leases(const json_t *root, struct etcd_reply *out)
{
    const json_t *leases = json_object_get(root, "leases");
    if (leases && !json_is_array(leases))
        return false;
    for (size_t i = 0; i < json_array_size(leases) && i < ETCD_LEASES_MAX; i++)
        if (!read_number(json_array_get(leases, i), "ID", &out->leases[out->lease_count++]))
            return false;
    return true;
}

static bool read_all(const json_t *root, struct etcd_reply *out)
{
    const json_t *header = json_object_get(root, "header");
    out->succeeded = json_is_true(json_object_get(root, "succeeded"));
    return read_number(header, "revision", &out->revision) && read_number(root, "ID", &out->id) &&
           read_number(root, "TTL", &out->ttl_s) && read_number(root, "code", &out->error) &&
           read_responses(root, out) && read_leases(root, out);
}

/* Calls that stream wrap what they say. */
static const json_t *unwrapped(const json_t *root)
{
    const json_t *result = json_object_get(root, "result");
    const json_t *failure = json_object_get(root, "error");
    if (json_is_object(failure))
        return failure;
    return result ? result : root;
}

static json_t *load(struct slice text, struct error *error)
{
    json_error_t why;
    json_t *root = json_loadb(text.at, text.length, JSON_REJECT_DUPLICATES, &why);
    if (root && json_is_object(root))
        return root;
    json_decref(root);
    (void)error_set(error, -EBADMSG, "no JSON object");
    return NULL;
}

int etcd_reply_read(struct slice body, struct etcd_reply *out, struct error *error)
{
    json_t *root = load(body, error);
    if (!root)
        return -EBADMSG;
    const json_t *inner = unwrapped(root);
    *out = (struct etcd_reply){0};
    bool good = json_is_object(inner) && read_all(inner, out) &&
                (out->error || json_is_object(json_object_get(inner, "header")));
    json_decref(root);
    return good ? 0 : error_set(error, -EBADMSG, "JSON that is no answer of etcd");
}

const struct etcd_kv *etcd_reply_find(const struct etcd_reply *reply, uint32_t from)
{
    for (uint32_t i = 0; i < reply->kv_count; i++)
        if (reply->kvs[i].from == from)
            return &reply->kvs[i];
    return NULL;
}

static bool read_change(const json_t *event, struct etcd_change *out)
{
    const json_t *before = json_object_get(event, "prev_kv");
    const json_t *type = json_object_get(event, "type");
    *out = (struct etcd_change){.has_before = before};
    out->deleted = json_is_string(type) && strcmp(json_string_value(type), "DELETE") == 0;
    return read_kv(json_object_get(event, "kv"), &out->kv) &&
           (!before || read_kv(before, &out->before));
}

int etcd_watch_read(struct slice line, void *context,
                    void (*change)(void *context, const struct etcd_change *change),
                    struct etcd_watched *out, struct error *error)
{
    json_t *root = load(line, error);
    if (!root)
        return -EBADMSG;
    const json_t *inner = unwrapped(root), *events = json_object_get(inner, "events");
    bool good = json_is_object(json_object_get(inner, "header")) &&
                read_number(json_object_get(inner, "header"), "revision", &out->revision) &&
                (!events || json_is_array(events));
    for (size_t i = 0; good && i < json_array_size(events); i++) {
        struct etcd_change one;
        good = read_change(json_array_get(events, i), &one);
        if (good)
            change(context, &one);
    }
    out->created = json_is_true(json_object_get(inner, "created"));
    out->canceled = json_is_true(json_object_get(inner, "canceled"));
    json_decref(root);
    return good ? 0 : error_set(error, -EBADMSG, "JSON that is no word of a watch of etcd");
}

bool etcd_holder(const struct etcd_kv *kv, uint32_t nodes, uint32_t *ret_node, uint32_t *ret_name)
{
    unsigned node = 0, name = 0;
    char end = '\0';
    int count = sscanf(kv->value, "%u %u%c", &node, &name, &end);
    if (count < 1 || count > 2 || node > nodes || name > nodes)
        return false;
    *ret_node = node;
    *ret_name = name;
    return true;
}

/* 16 bits of node, 12 of incarnation, 24 of count. */
uint64_t etcd_session(uint32_t node, uint64_t incarnation, uint32_t count)
{
    return (uint64_t)node << 36 | (incarnation & 0xfff) << 24 | (count & 0xffffff);
}

uint32_t etcd_session_node(uint64_t session)
{
    return (uint32_t)(session >> 36);
}

/* --- requests --- */

static void add_key(struct text *out, const char *name, const char *key)
{
    text_add(out, "\"%s\":", name);
    add_base64(out, key);
}

static void add_put(struct text *out, const char *key, const char *value, uint64_t session)
{
    text_add(out, "{\"request_put\":{");
    add_key(out, "key", key);
    text_add(out, ",");
    add_key(out, "value", value);
    if (session)
        text_add(out, ",\"lease\":\"%" PRIu64 "\"", session);
    text_add(out, "}}");
}

static void add_range(struct text *out, const char *key)
{
    text_add(out, "{\"request_range\":{");
    add_key(out, "key", key);
    text_add(out, "}}");
}

static void add_delete(struct text *out, const char *key)
{
    text_add(out, "{\"request_delete_range\":{");
    add_key(out, "key", key);
    text_add(out, "}}");
}

/* `target` is CREATE or MOD, `member` the field that holds the number. */
static void add_compare(struct text *out, const char *key, const char *target, const char *member,
                        uint64_t number)
{
    text_add(out, "{");
    add_key(out, "key", key);
    text_add(out, ",\"result\":\"EQUAL\",\"target\":\"%s\",\"%s\":\"%" PRIu64 "\"}", target, member,
             number);
}

static void add_number(struct text *out, const char *name, uint64_t number)
{
    text_add(out, "{\"%s\":\"%" PRIu64 "\"}", name, number);
}

static const char transaction[] = "/v3/kv/txn";

const char *etcd_grant(uint64_t session, uint64_t ttl_ns, struct text *out)
{
    text_add(out, "{\"ID\":\"%" PRIu64 "\",\"TTL\":\"%" PRIu64 "\"}", session,
             (ttl_ns + NS_PER_S - 1) / NS_PER_S);
    return "/v3/lease/grant";
}

const char *etcd_keepalive(uint64_t session, struct text *out)
{
    add_number(out, "ID", session);
    return "/v3/lease/keepalive";
}

const char *etcd_revoke(uint64_t session, struct text *out)
{
    add_number(out, "ID", session);
    return "/v3/lease/revoke";
}

const char *etcd_leases(struct text *out)
{
    text_add(out, "{}");
    return "/v3/lease/leases";
}

const char *etcd_status(struct text *out)
{
    text_add(out, "{}");
    return "/v3/maintenance/status";
}

const char *etcd_create(const char *key, uint32_t node, uint64_t session, struct text *out)
{
    char value[16];
    (void)snprintf(value, sizeof value, "%" PRIu32, node);
    text_add(out, "{\"compare\":[");
    add_compare(out, key, "CREATE", "create_revision", 0);
    text_add(out, "],\"success\":[");
    add_put(out, key, value, session);
    text_add(out, "],\"failure\":[");
    add_range(out, key);
    text_add(out, "]}");
    return transaction;
}

const char *etcd_look(uint64_t min, uint64_t max, bool last, struct text *out)
{
    text_add(out, "{\"success\":[{\"request_range\":{");
    add_key(out, "key", ETCD_RECORDS);
    text_add(out, ",");
    add_key(out, "range_end", RECORDS_END);
    text_add(out, ",\"limit\":\"1\",\"sort_target\":\"CREATE\",\"sort_order\":\"%s\"",
             last ? "DESCEND" : "ASCEND");
    if (min)
        text_add(out, ",\"min_create_revision\":\"%" PRIu64 "\"", min);
    if (max)
        text_add(out, ",\"max_create_revision\":\"%" PRIu64 "\"", max);
    text_add(out, "}},");
    add_range(out, ETCD_ROW);
    text_add(out, "]}");
    return transaction;
}

static void add_released(struct text *out, uint64_t record)
{
    char value[24];
    (void)snprintf(value, sizeof value, "%" PRIu64, record);
    add_put(out, ETCD_RELEASED, value, 0);
    text_add(out, ",");
}

const char *etcd_delete(const char *key, uint64_t record, struct text *out)
{
    text_add(out, "{\"compare\":[");
    add_compare(out, key, "CREATE", "create_revision", record);
    text_add(out, "],\"success\":[");
    add_released(out, record);
    add_delete(out, key);
    text_add(out, "]}");
    return transaction;
}

const char *etcd_row(struct text *out)
{
    text_add(out, "{\"success\":[");
    add_range(out, ETCD_ROW);
    text_add(out, ",");
    add_range(out, ETCD_UNTIL);
    text_add(out, "]}");
    return transaction;
}

static void add_seen(struct text *out, const struct etcd_row_seen *seen)
{
    text_add(out, "{\"compare\":[");
    add_compare(out, ETCD_ROW, "MOD", "mod_revision", seen->row_mod);
    text_add(out, ",");
    add_compare(out, ETCD_UNTIL, "MOD", "mod_revision", seen->until_mod);
    text_add(out, "],\"success\":[");
}

static void add_until(struct text *out, uint64_t until_ns)
{
    char value[24];
    (void)snprintf(value, sizeof value, "%" PRIu64, until_ns);
    add_put(out, ETCD_UNTIL, value, 0);
}

const char *etcd_row_take(const struct etcd_row_seen *seen, uint32_t node, uint32_t name,
                          uint64_t until_ns, struct text *out)
{
    char value[32];
    (void)snprintf(value, sizeof value, "%" PRIu32 " %" PRIu32, node, name);
    add_seen(out, seen);
    add_put(out, ETCD_ROW, value, 0);
    text_add(out, ",");
    add_until(out, until_ns);
    text_add(out, "]}");
    return transaction;
}

const char *etcd_row_extend(const struct etcd_row_seen *seen, uint64_t until_ns, struct text *out)
{
    add_seen(out, seen);
    add_until(out, until_ns);
    text_add(out, "]}");
    return transaction;
}

const char *etcd_row_release(uint64_t row_mod, struct text *out)
{
    text_add(out, "{\"compare\":[");
    add_compare(out, ETCD_ROW, "MOD", "mod_revision", row_mod);
    text_add(out, "],\"success\":[");
    add_put(out, ETCD_ROW, "0 0", 0);
    text_add(out, ",");
    add_delete(out, ETCD_UNTIL);
    text_add(out, "]}");
    return transaction;
}

const char *etcd_watch_key(const char *key, uint64_t revision, struct text *out)
{
    text_add(out, "{\"create_request\":{");
    add_key(out, "key", key);
    text_add(out, ",\"start_revision\":\"%" PRIu64 "\",\"filters\":[\"NOPUT\"]}}", revision);
    return "/v3/watch";
}

const char *etcd_watch_all(uint64_t revision, struct text *out)
{
    text_add(out, "{\"create_request\":{");
    add_key(out, "key", ALL_FIRST);
    text_add(out, ",");
    add_key(out, "range_end", ALL_END);
    text_add(out, ",\"start_revision\":\"%" PRIu64 "\",\"prev_kv\":true}}", revision);
    return "/v3/watch";
}
