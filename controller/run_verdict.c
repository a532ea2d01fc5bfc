#define _GNU_SOURCE
#include "controller/run_verdict.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "controller/known.h"
#include "controller/output.h"
#include "report/verdict.h"

static int write_all(int fd, const struct text *text)
{
    size_t done = 0;
    while (done < text->length) {
        ssize_t wrote = write(fd, text->at + done, text->length - done);
        if (wrote < 0 && errno != EINTR)
            return -errno;
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    return 0;
}

static int write_json(const char *folder, const struct text *json, struct error *error)
{
    struct text path = {0};
    text_add(&path, "%s/verdict.json", folder);
    int fd = open(text_string(&path), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    int rc = fd < 0 ? -errno : write_all(fd, json);
    if (fd >= 0 && close(fd) < 0 && rc == 0)
        rc = -errno;
    if (rc < 0)
        (void)error_set(error, rc, "write %s: %s", text_string(&path), strerror(-rc));
    text_release(&path);
    return rc;
}

/* The witnesses' events are read back from the file that the reader will look at. */
static void add_shown(const struct report *report, bool json, struct text *out)
{
    struct witness_lines witness = {0};
    struct report shown = *report;
    if (json) {
        report_json(report, out);
        text_add(out, "\n");
        return;
    }
    witness_lines_want(report->data, &witness);
    (void)witness_lines_read(&witness, report->path, NULL); /* then their numbers must do */
    shown.witness = &witness;
    report_text(&shown, out);
    witness_lines_release(&witness);
}

/* Into the history, which is whole then. */
static int record_verdict(struct recorder *recorder, const struct text *json, struct error *error)
{
    int rc = recorder_verdict(recorder, (struct slice){json->at, json->length}, error);
    struct error unread;
    int closed = recorder_close(recorder, rc == 0 ? error : &unread);
    return rc < 0 ? rc : closed;
}

int verdict_conclude(const struct verdict_request *request, struct recorder *recorder,
                     struct run_outcome *out, struct error *error)
{
    struct report_data data;
    struct text json = {0}, shown = {0};
    recorder_judge(recorder, &data);
    struct report report = {
        .data = &data,
        .header = request->header,
        .path = request->history,
        .expected = request->config->expect.check,
        .broken_by = known_to_break(request->header),
        .program = output_program(),
        .colour = output_colour(),
    };
    report_json(&report, &json);
    int rc = record_verdict(recorder, &json, error);
    text_add(&json, "\n");
    if (rc == 0)
        rc = write_json(request->folder, &json, error);
    enum exit_code code = expectation_judge(&request->config->expect, &data);
    if (rc == 0 && request->config->print) {
        add_shown(&report, request->config->json, &shown);
        if (!request->config->json)
            expectation_line(&request->config->expect, code == EXIT_VALID, &shown);
        rc = output_text(&shown, error);
    }
    if (rc >= 0) {
        out->exit_code = code;
        out->verdict = data.verdict;
        out->judged = true;
    }
    report_data_release(&data);
    text_release(&json);
    text_release(&shown);
    return rc < 0 ? rc : 0;
}
