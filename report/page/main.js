// The page: what was judged, then the run, then figures. All from the data that coup put into it.

import { Timeline } from "./timeline.js";
import { failovers } from "./failovers.js";
import { element, seconds, duration, count, table } from "./words.js";

const data = JSON.parse(document.getElementById("data").textContent);
const page = document.getElementById("page");
const { judged, run } = data;
const timeline = new Timeline(data);
const timeOf = new Map(data.events.map(([index, time]) => [index, time]));
const witnesses = new Set(judged.checks.flatMap((check) => check.witness));

function jump(check) {
    const times = check.witness.map((index) => timeOf.get(index)).filter((time) => time !== undefined);
    if (times.length === 0) return;
    timeline.show(Math.min(...times), Math.max(...times), times);
    timeline.node.scrollIntoView({ block: "nearest" });
    timeline.canvas.focus({ preventScroll: true });
    requestAnimationFrame(() => requestAnimationFrame(() => {
        const list = document.querySelector(".events"), line = list.querySelector(".witness");
        if (line) list.scrollTop = line.offsetTop - list.offsetTop - list.clientHeight / 3;
    }));
}

function head() {
    const kind = judged.verdict;
    document.title = `${kind}: ${run.algorithm}, seed ${run.seed}`;
    return [
        element("h1", {}, element("span", { class: `verdict ${kind}` }, kind), ` ${run.algorithm}, ${run.nodes} nodes`),
        element("p", { class: "why" }, data.why),
        element("p", { class: "soft" },
            `${run.started_ms ? `${new Date(run.started_ms).toISOString().replace("T", " ").slice(0, 19)} UTC` : "simulated"}, seed ${run.seed}, ` +
            `${run.network} network, ${run.resource} resource, ${run.options}`),
        judged.damage ? element("p", { class: "invalid" }, `The history is damaged: ${judged.damage}`) : null,
    ];
}

function facts() {
    const { stats } = judged;
    const led = stats.watched_ns ? (100 * (1 - stats.leaderless_ns / stats.watched_ns)).toFixed(1) : "0";
    const fact = (value, words) => element("span", {}, element("b", {}, value), ` ${words}`);
    return element("div", { class: "facts" },
        fact(seconds(run.end_us, 1), "of run"), fact(count(stats.terms), "terms"), fact(count(stats.leaders), "leaders"),
        fact(`${led} %`, "of the time led"), fact(count(stats.writes_accepted), "writes accepted"),
        fact(count(stats.writes_rejected), "rejected"), fact(count(stats.client_ok), "client operations ok"),
        fact(count(stats.client_fail), "failed"), fact(count(stats.client_unknown), "unknown"),
        fact(count(judged.events), "events"));
}

function checks() {
    const rows = judged.checks.map((check) => [
        check.name,
        element("span", { class: check.verdict }, check.verdict),
        (check.reason || check.evidence) + (check.violations > 1 ? ` (and ${count(check.violations - 1)} more)` : ""),
        check.witness.length ? element("button", { click: () => jump(check), "data-check": check.name }, "show") : "",
    ]);
    return [table(["check", "verdict", "", ""], rows),
        element("p", { class: "soft" }, judged.not_owed.length ? `Not owed: ${judged.not_owed.join(", ")}.` : "")];
}

function legend() {
    const words = [["leader", "leader, with its term"], ["candidate", "candidate"], ["follower", "follower, of whom"],
        ["paused", "paused (hatched)"], ["down", "down (dashed)"], ["fault", "fault (dashed: never landed)"],
        ["accept", "write accepted"], ["reject", "rejected (cross)"], ["ok", "client ok"], ["fail", "failed"], ["lost", "unknown"]];
    return element("div", { class: "legend" }, words.map(([name, text]) =>
        element("span", { style: `--swatch: var(--${name})` }, text)));
}

function toolbar() {
    let at = -1;
    const step = (by) => () => {
        if (data.failovers.length === 0) return;
        at = (at + by + data.failovers.length) % data.failovers.length;
        pick(data.failovers[at]);
    };
    return element("div", { class: "toolbar" },
        element("button", { click: () => timeline.all() }, "whole run"),
        element("button", { click: step(-1) }, "previous failover"), element("button", { click: step(1) }, "next failover"),
        element("span", { class: "soft" }, "drag or arrow keys pan, wheel or + and - zoom, 0 shows all"));
}

function pick(row) {
    timeline.show(row[0], row[0] + Math.max(...row.slice(3).map((time) => time ?? 0)), [row[0]]);
}

// The events within what the timeline shows, as lines.
function events() {
    const most = 300, list = element("pre", { class: "events" }), caption = element("p", { class: "soft" });
    const digits = String(data.events.at(-1)?.[0] ?? 0).length;
    let pending = 0;
    const fill = () => {
        const [from, to] = timeline.view();
        const seen = data.events.filter(([, time]) => from <= time && time <= to);
        list.replaceChildren(...seen.slice(0, most).map(([index, , , line]) =>
            element("div", { class: witnesses.has(index) ? "witness" : "" },
                `${String(index).padStart(digits)}  ${line}`)));
        caption.textContent = `${count(Math.min(most, seen.length))} of the events from ${seconds(from)} to ${seconds(to)}` +
            `: changes, ${data.common_step > 1 ? `one in ${data.common_step} of the common ones` : "common ones"}, and all around a violation${data.left_out ? `; ${count(data.left_out)} changes are left out` : ""}. ` +
            `${run.program} show ${judged.history} --from ${(from / 1e6).toFixed(6)}s --to ${(to / 1e6).toFixed(6)}s shows every one.`;
    };
    timeline.onView(() => {
        cancelAnimationFrame(pending);
        pending = requestAnimationFrame(fill);
    });
    requestAnimationFrame(fill);
    return [caption, list];
}

// Twenty links are a number; which they are is told on hover.
function targets(list) {
    const parts = list.split(",");
    return parts.length <= 4 ? list : element("span", { title: list }, `${parts.length} ${list.includes(">") ? "links" : "nodes"}`);
}

function faults() {
    if (data.faults.length === 0) return element("p", { class: "soft" }, "None.");
    const rows = data.faults.slice(0, 500).map(([from, to, touched, kind, on, outcome, parameters, proof]) => [
        element("button", { click: () => timeline.show(from, to, [from, to]) }, seconds(from)), kind, targets(on),
        outcome === "installed" ? duration(to - from) : outcome, parameters, touched ? count(touched) : "", proof]);
    return table(["begin", "fault", "on", "for", "parameters", "touched", "proof, or why not"], rows, [5]);
}

function messages() {
    const sum = data.messages.reduce((all, [, number]) => all + number, 0);
    if (sum === 0) return element("p", { class: "soft" }, "None were counted.");
    const rows = [...data.messages].sort((a, b) => b[1] - a[1]).map(([kind, number]) =>
        [kind, count(number), `${((100 * number) / sum).toFixed(1)} %`]);
    return table(["message", "sent", "share"], rows, [1, 2]);
}

function again() {
    return [
        element("pre", {}, `${run.command}\n${run.program} replay ${judged.history}\n${run.program} check ${judged.history}`),
        element("p", { class: "soft" }, `Seed ${run.seed}, coup ${run.version}, ${run.host}.`),
    ];
}

page.append(...[
    head(), facts(),
    element("h2", {}, "Timeline"), toolbar(), timeline.node, legend(), events(),
    element("h2", {}, "Checks"), checks(),
    element("h2", {}, "Failovers"), failovers(data, pick),
    element("h2", {}, "Faults"), faults(),
    element("h2", {}, "Election messages"), messages(),
    element("h2", {}, "Again"), again(),
].flat().filter(Boolean));
window.coup = { timeline, data, jump };
