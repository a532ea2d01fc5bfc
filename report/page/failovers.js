// Failovers: a stacked bar each, the distribution of the whole, and percentiles by phase.

import { scaleLinear } from "d3-scale";
import { select } from "d3-selection";
import { axisBottom, axisLeft } from "d3-axis";
import { element, seconds, duration, quantile, table } from "./words.js";

const WIDTH = 560, LEFT = 56, BAR = 16;
const FILLS = ["--paused", "--candidate", "--leader", "--accept"];

function picture(height) {
    return select(document.createElementNS("http://www.w3.org/2000/svg", "svg"))
        .attr("viewBox", `0 0 ${WIDTH} ${height}`).attr("role", "img");
}

// Phases in the order in which they came; each takes what was left when the one before was there.
function bars(data, onPick) {
    const shown = data.failovers.slice(0, 60);
    const height = shown.length * BAR + 40;
    const most = Math.max(1, ...shown.map((row) => Math.max(...row.slice(3).map((time) => time ?? 0))));
    const x = scaleLinear([0, most / 1e3], [LEFT, WIDTH - 16]);
    const svg = picture(height).attr("aria-label", "failovers, phase by phase");
    shown.forEach((row, index) => {
        let from = 0;
        const group = svg.append("g").style("cursor", "pointer").on("click", () => onPick(row));
        group.append("text").attr("x", 0).attr("y", index * BAR + 12).text(seconds(row[0], 2));
        row.slice(3).forEach((time, phase) => {
            if (time === null || time < from) return;
            group.append("rect").attr("x", x(from / 1e3)).attr("y", index * BAR + 3)
                .attr("width", Math.max(0.5, x(time / 1e3) - x(from / 1e3))).attr("height", BAR - 5)
                .style("fill", `var(${FILLS[phase]})`).style("stroke", "var(--paper)")
                .append("title").text(`${data.failover_phases[phase]} after ${duration(time)}`);
            from = time;
        });
    });
    svg.append("g").attr("transform", `translate(0,${height - 32})`).call(axisBottom(x).ticks(6));
    svg.append("text").attr("x", WIDTH - 16).attr("y", height - 2).attr("text-anchor", "end")
        .text("ms from the loss of the leader");
    return svg.node();
}

function distribution(data) {
    const height = 220, last = data.failover_phases.length - 1;
    const svg = picture(height).attr("aria-label", "distribution of failover times");
    const times = data.failover_phases.map((_, phase) =>
        data.failovers.map((row) => row[3 + phase]).filter((time) => time !== null).sort((a, b) => a - b));
    const most = Math.max(1, ...times.flat());
    const x = scaleLinear([0, most / 1e3], [LEFT, WIDTH - 16]).nice(), y = scaleLinear([0, 1], [height - 34, 8]);
    times.forEach((sorted, phase) => {
        if (sorted.length === 0) return;
        const path = sorted.map((time, index) => `H${x(time / 1e3)}V${y((index + 1) / sorted.length)}`).join("");
        svg.append("path").attr("d", `M${x(0)},${y(0)}${path}H${WIDTH - 16}`).style("fill", "none")
            .style("stroke", `var(${FILLS[phase]})`).style("stroke-width", phase === last ? 2.5 : 1.2)
            .style("stroke-dasharray", ["2 3", "6 3", "1 0", "1 0"][phase])
            .append("title").text(data.failover_phases[phase]);
    });
    svg.append("g").attr("transform", `translate(0,${height - 34})`).call(axisBottom(x).ticks(6));
    svg.append("g").attr("transform", `translate(${LEFT},0)`).call(axisLeft(y).ticks(4, "%"));
    svg.append("text").attr("x", WIDTH - 16).attr("y", height - 2).attr("text-anchor", "end")
        .text("ms; share of the failovers that were there by then");
    return svg.node();
}

export function failovers(data, onPick) {
    if (data.failovers.length === 0) return element("p", { class: "soft" }, "No leader was lost.");
    const rows = data.failover_phases.map((name, phase) => {
        const times = data.failovers.map((row) => row[3 + phase]).filter((time) => time !== null).sort((a, b) => a - b);
        return [name, String(times.length), ...[0.5, 0.9, 0.99, 1].map((share) => duration(quantile(times, share)))];
    });
    const legend = element("div", { class: "legend" }, data.failover_phases.map((name, phase) =>
        element("span", { style: `--swatch: var(${FILLS[phase]})` }, name)));
    return element("div", {},
        table(["from the loss to", "times", "median", "p90", "p99", "highest"], rows, [1, 2, 3, 4, 5]), legend,
        element("div", { class: "charts" }, bars(data, onPick), distribution(data)),
        data.failovers.length > 60 ? element("p", { class: "soft" }, `The first 60 of ${data.failovers.length} are drawn.`) : null);
}
