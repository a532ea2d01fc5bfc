/* A child of the controller that does what its words say, one after the other, and then waits for
 * end of file on stdin: ready, event N (N of them), done, garbage, torn, exit N, abort, deaf (never
 * ends by itself), spin (likewise, and keeps a CPU busy), log TEXT. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodes/control.h"

static void say(const struct control *control, size_t keep)
{
    struct text frame = {0};
    control_encode(control, &frame);
    size_t length = keep && keep < frame.length ? keep : frame.length;
    for (size_t done = 0; done < length;) {
        ssize_t wrote = write(STDOUT_FILENO, frame.at + done, length - done);
        if (wrote < 0)
            exit(9);
        done += (size_t)wrote;
    }
    text_release(&frame);
}

static void say_events(unsigned long count)
{
    for (unsigned long i = 1; i <= count; i++) {
        struct control control = {.verb = CONTROL_EVENT};
        control.event = (struct event){.time_ns = i, .process = 1, .type = EVENT_INFO, .f = F_NOTE};
        event_set(&control.event, FIELD_ID, i);
        say(&control, 0);
    }
}

static void wait_for_end(void)
{
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
}

static unsigned long number(const char *text)
{
    return text ? strtoul(text, NULL, 10) : 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        struct control control = {.verb = CONTROL_READY, .text = slice_of("here")};
        if (strcmp(word, "ready") == 0) {
            say(&control, 0);
        } else if (strcmp(word, "event") == 0) {
            say_events(number(argv[++i]));
        } else if (strcmp(word, "done") == 0) {
            control = (struct control){
                .verb = CONTROL_DONE, .id = 7, .begin = 1, .end = 2, .text = slice_of("")};
            say(&control, 0);
        } else if (strcmp(word, "garbage") == 0) {
            control = (struct control){.verb = CONTROL_COMMAND, .text = slice_of("rule")};
            say(&control, 0);
        } else if (strcmp(word, "torn") == 0) {
            say(&control, 5);
        } else if (strcmp(word, "exit") == 0) {
            return (int)number(argv[++i]);
        } else if (strcmp(word, "abort") == 0) {
            abort();
        } else if (strcmp(word, "deaf") == 0) {
            for (;;)
                (void)pause();
        } else if (strcmp(word, "spin") == 0) {
            for (volatile unsigned long turns = 0;; turns++)
                continue;
        } else if (strcmp(word, "log") == 0) {
            (void)fprintf(stderr, "%s\n", argv[++i]);
        }
    }
    wait_for_end();
    return 0;
}
