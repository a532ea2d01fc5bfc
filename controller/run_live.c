/* The live line: what a person at a terminal wants to see while a run goes on. */
#define _GNU_SOURCE
#include "controller/run_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/units.h"

#define RETURN_AND_CLEAR "\r\x1b[K"

void live_init(struct live *live, bool quiet)
{
    const char *terminal = getenv("TERM");
    bool dumb = terminal && strcmp(terminal, "dumb") == 0;
    *live = (struct live){.shown = !quiet && !dumb && isatty(STDERR_FILENO)};
}

static size_t columns(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col < 2)
        return 80;
    return size.ws_col;
}

static void add_seconds(struct text *out, uint64_t ns)
{
    text_add(out, "%" PRIu64 ".%" PRIu64 "s", ns / NS_PER_S, ns % NS_PER_S / (100 * NS_PER_MS));
}

static void add_active(const struct engine *engine, struct text *out)
{
    struct text active = {0};
    if (engine)
        engine_active(engine, &active);
    if (active.length)
        text_add(out, " | %s", text_string(&active));
    text_release(&active);
}

/* The most interesting first: a narrow terminal cuts the end off. */
static void add_line(const struct live_facts *facts, struct text *out)
{
    char writes[COUNT_TEXT_MAX];
    uint64_t term = 0;
    uint32_t leader = view_leader(facts->view, &term);
    add_seconds(out, facts->now_ns);
    if (facts->end_ns) {
        text_add(out, "/");
        add_seconds(out, facts->end_ns);
    }
    text_add(out, " %s", facts->phase);
    if (facts->violated)
        text_add(out, " | VIOLATED");
    if (leader)
        text_add(out, " | n%u leads term %" PRIu64, leader, term);
    else
        text_add(out, " | no leader");
    add_active(facts->engine, out);
    text_add(out, " | %s, %" PRIu64 " refused",
             count_of(facts->view->writes_accepted, "write", writes), facts->view->writes_rejected);
}

/* A terminal that does not take it now is not waited for. */
static void put(const struct text *text)
{
    ssize_t wrote = write(STDERR_FILENO, text->at, text->length);
    (void)wrote;
}

void live_draw(struct live *live, const struct live_facts *facts)
{
    struct text line = {0}, out = {0};
    if (!live->shown)
        return;
    add_line(facts, &line);
    size_t room = columns() - 1;
    text_add(&out, "%s", RETURN_AND_CLEAR);
    text_add_bytes(&out, line.at, line.length < room ? line.length : room);
    put(&out);
    live->drawn = true;
    text_release(&line);
    text_release(&out);
}

void live_clear(struct live *live)
{
    struct text out = {0};
    if (!live->drawn)
        return;
    text_add(&out, "%s", RETURN_AND_CLEAR);
    put(&out);
    text_release(&out);
    live->drawn = false;
}
