// The run over true time, on a canvas: phases, faults, a lane for each node, guarded writes,
// clients. What is drawn is data already cut down to size, so a redraw is a few thousand strokes.

import { scaleLinear } from "d3-scale";
import { select } from "d3-selection";
import { zoom, zoomIdentity, zoomTransform } from "d3-zoom";
import { element, seconds, duration, colour, count } from "./words.js";

const GUTTER = 96, RIGHT = 12, AXIS = 22, PHASES = 18, BAND = 15, BANDS_MAX = 8;
const LANE = 34, BAR = 20, WRITES = 46, CLIENTS = 34, NEAR = 6;
const ROLES = { l: "leader", c: "candidate", f: "follower" };

// Faults that overlap stand below one another, as few rows as it takes.
function packed(faults) {
    const ends = [];
    return faults.map((fault) => {
        let row = ends.findIndex((end) => end <= fault[0]);
        if (row < 0) row = Math.min(ends.length, BANDS_MAX - 1);
        ends[row] = Math.max(fault[1], fault[0] + 1);
        return row;
    });
}

// Times of writes, or counts of bins, as [from, to, count, holder, token].
function spread(data) {
    const bin = data.run.end_us / data.write_bins;
    return data.writes.flatMap((run) => {
        if (run.bins) {
            const out = [];
            for (let i = 0; i < run.bins.length; i += 2)
                out.push([run.bins[i] * bin, (run.bins[i] + 1) * bin, run.bins[i + 1], run.holder, run.token]);
            return out;
        }
        let at = 0;
        return run.times.map((step) => {
            at += step;
            return [at, at, 1, run.holder, run.token];
        });
    });
}

export class Timeline {
    constructor(data) {
        this.data = data;
        this.rows = packed(data.faults);
        this.bands = Math.max(1, ...this.rows.map((row) => row + 1));
        this.writes = spread(data);
        this.marks = [];
        this.listeners = [];
        this.base = scaleLinear([0, data.run.end_us || 1], [GUTTER, 1000]); // until the width is known
        this.x = this.base; // zoomed
        this.canvas = element("canvas", { tabindex: 0, role: "img",
            "aria-label": "timeline; arrow keys pan, plus and minus zoom, 0 shows all" });
        this.tip = element("div", { class: "tip" });
        this.node = element("div", { class: "timeline" }, this.canvas, this.tip);
        this.zoom = zoom().scaleExtent([1, 1e6]).on("zoom", () => {
            this.x = zoomTransform(this.canvas).rescaleX(this.base);
            this.draw();
            for (const listener of this.listeners) listener();
        });
        select(this.canvas).call(this.zoom).on("dblclick.zoom", null);
        this.canvas.addEventListener("mousemove", (event) => this.point(event));
        this.canvas.addEventListener("mouseleave", () => (this.tip.style.display = "none"));
        this.canvas.addEventListener("keydown", (event) => this.key(event));
        new ResizeObserver(() => requestAnimationFrame(() => this.resize())).observe(this.node);
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    }

    onView(listener) {
        this.listeners.push(listener);
    }

    resize() {
        const ratio = window.devicePixelRatio || 1;
        this.width = this.node.clientWidth;
        this.height = this.laneTop(this.data.lanes.length) + WRITES + CLIENTS + 8;
        this.canvas.style.height = `${this.height}px`;
        this.canvas.width = this.width * ratio;
        this.canvas.height = this.height * ratio;
        this.ratio = ratio;
        this.base = scaleLinear([0, this.data.run.end_us || 1], [GUTTER, this.width - RIGHT]);
        this.zoom.extent([[GUTTER, 0], [this.width - RIGHT, this.height]])
            .translateExtent([[GUTTER, 0], [this.width - RIGHT, this.height]]);
        this.x = zoomTransform(this.canvas).rescaleX(this.base);
        this.draw();
    }

    laneTop(lane) {
        return AXIS + PHASES + this.bands * BAND + 6 + lane * LANE;
    }

    view() {
        return this.x.domain();
    }

    // Show from..to, both in microseconds; marks are drawn through all lanes.
    show(from, to, marks = []) {
        const pad = Math.max((to - from) * 0.25, 2000);
        const start = Math.max(0, from - pad), end = Math.min(this.data.run.end_us, to + pad);
        const scale = (this.base.range()[1] - this.base.range()[0]) / (this.base(end) - this.base(start));
        this.marks = marks;
        select(this.canvas).call(this.zoom.transform, zoomIdentity
            .translate(GUTTER, 0).scale(scale).translate(-this.base(start), 0));
    }

    all() {
        this.marks = [];
        select(this.canvas).call(this.zoom.transform, zoomIdentity);
    }

    key(event) {
        const canvas = select(this.canvas);
        const step = 80;
        const { k } = zoomTransform(this.canvas);
        const keys = {
            ArrowLeft: () => canvas.call(this.zoom.translateBy, step / k, 0),
            ArrowRight: () => canvas.call(this.zoom.translateBy, -step / k, 0),
            "+": () => canvas.call(this.zoom.scaleBy, 1.5),
            "=": () => canvas.call(this.zoom.scaleBy, 1.5),
            "-": () => canvas.call(this.zoom.scaleBy, 1 / 1.5),
            0: () => this.all(),
        };
        if (!keys[event.key]) return;
        event.preventDefault();
        keys[event.key]();
    }

    // ---- drawing ----

    draw() {
        if (!this.width) return;
        const ink = this.canvas.getContext("2d");
        this.ink = ink;
        ink.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
        ink.clearRect(0, 0, this.width, this.height);
        ink.font = "11px system-ui, 'DejaVu Sans', sans-serif";
        ink.textBaseline = "middle";
        this.colours = {};
        this.drawAxis();
        ink.save();
        ink.beginPath();
        ink.rect(GUTTER, 0, this.width - GUTTER - RIGHT, this.height);
        ink.clip();
        this.drawPhases();
        this.drawFaults();
        this.data.lanes.forEach((lane, index) => this.drawLane(lane, this.laneTop(index)));
        this.drawWrites(this.laneTop(this.data.lanes.length));
        this.drawClients(this.laneTop(this.data.lanes.length) + WRITES);
        this.drawMarks();
        ink.restore();
        this.drawNames();
    }

    colour(name) {
        return (this.colours[name] ??= colour(name));
    }

    // The part of a segment that is seen: [left, width], or null.
    clip(from, to) {
        const left = Math.max(this.x(from), GUTTER - 2), right = Math.min(this.x(to), this.width - RIGHT + 2);
        return right < left ? null : [left, Math.max(right - left, 1)];
    }

    // Whole or not at all: half a word tells nothing.
    label(text, left, width, y, ink) {
        if (width < 14 || this.ink.measureText(text).width > width - 4) return;
        this.ink.fillStyle = ink;
        this.ink.fillText(text, Math.max(left, GUTTER) + 3, y);
    }

    drawAxis() {
        const { ink } = this;
        ink.textAlign = "center";
        for (const tick of this.x.ticks(Math.max(2, this.width / 130))) {
            const at = this.x(tick);
            ink.strokeStyle = this.colour("line");
            ink.beginPath();
            ink.moveTo(at, AXIS - 5);
            ink.lineTo(at, this.height);
            ink.stroke();
            ink.fillStyle = this.colour("soft");
            const [from, to] = this.view();
            const digits = Math.min(6, Math.max(0, Math.ceil(-Math.log10((to - from) / 1e7))));
            ink.fillText(seconds(tick, digits), at, AXIS / 2);
        }
        ink.textAlign = "left";
    }

    drawPhases() {
        this.data.phases.forEach(([from, name], index) => {
            const to = this.data.phases[index + 1]?.[0] ?? this.data.run.end_us;
            const part = this.clip(from, to);
            if (!part) return;
            this.ink.strokeStyle = this.colour("soft");
            this.ink.strokeRect(part[0], AXIS + 1, part[1], PHASES - 4);
            this.label(name, part[0], part[1], AXIS + PHASES / 2 - 1, this.colour("soft"));
        });
    }

    drawFaults() {
        this.data.faults.forEach((fault, index) => {
            const part = this.clip(fault[0], fault[1]);
            if (!part) return;
            const top = AXIS + PHASES + this.rows[index] * BAND;
            const landed = fault[5] === "installed";
            this.ink.fillStyle = this.colour("fault");
            if (landed) this.ink.fillRect(part[0], top, part[1], BAND - 2);
            this.ink.strokeStyle = this.colour("fault-edge");
            this.ink.setLineDash(landed ? [] : [2, 2]);
            this.ink.strokeRect(part[0] + 0.5, top + 0.5, part[1], BAND - 3);
            this.ink.setLineDash([]);
            this.label(fault[3], part[0], part[1], top + BAND / 2, this.colour("ink"));
        });
    }

    drawLane(lane, top) {
        const { ink } = this;
        for (const [from, to, role, term, leader] of lane.roles) {
            const part = this.clip(from, to);
            if (!part) continue;
            const [left, width] = part;
            if (role === "l") {
                ink.fillStyle = this.colour("leader");
                ink.fillRect(left, top + 4, width, BAR);
                const words = `leader ${term}`, y = top + 4 + BAR / 2;
                this.label(ink.measureText(words).width > width - 4 ? String(term) : words, left, width, y, this.colour("leader-ink"));
            } else if (role === "c") {
                ink.fillStyle = this.colour("candidate");
                ink.fillRect(left, top + 9, width, BAR - 10);
                this.label(`candidate ${term || ""}`, left, width, top + 4 + BAR / 2, this.colour("ink"));
            } else {
                ink.fillStyle = this.colour("follower");
                ink.fillRect(left, top + 16, width, 6);
                if (leader) this.label(`n${leader}`, left, width, top + 9, this.colour("soft"));
            }
        }
        for (const [from, to, state] of lane.states) {
            const part = this.clip(from, to);
            if (part) this.drawState(part, top + 2, state);
        }
        ink.strokeStyle = this.colour("line");
        ink.beginPath();
        ink.moveTo(GUTTER, top + LANE - 3);
        ink.lineTo(this.width, top + LANE - 3);
        ink.stroke();
    }

    drawState([left, width], top, state) {
        const { ink } = this;
        ink.save();
        ink.beginPath();
        ink.rect(left, top, width, BAR + 4);
        ink.clip();
        ink.fillStyle = this.colour(state);
        ink.globalAlpha = state === "down" ? 0.9 : 0.45;
        ink.fillRect(left, top, width, BAR + 4);
        ink.globalAlpha = 1;
        if (state === "paused") {
            ink.strokeStyle = this.colour("ink");
            ink.globalAlpha = 0.5;
            ink.beginPath();
            for (let at = left - 24; at < left + width; at += 7) {
                ink.moveTo(at, top + BAR + 4);
                ink.lineTo(at + 24, top);
            }
            ink.stroke();
            ink.globalAlpha = 1;
        } else {
            ink.strokeStyle = this.colour("soft");
            ink.setLineDash([3, 3]);
            ink.strokeRect(left + 0.5, top + 0.5, width - 1, BAR + 3);
        }
        ink.restore();
        this.label(state, left, width, top + BAR / 2 + 2, this.colour("ink"));
    }

    drawWrites(top) {
        const { ink } = this;
        const columns = new Map();
        let most = 1;
        for (const [from, to, number] of this.writes) {
            const left = this.x(from), right = this.x(to);
            if (right < GUTTER || left > this.width) continue;
            for (let at = Math.round(left); at <= Math.round(right); at++) {
                const share = number / (Math.round(right) - Math.round(left) + 1);
                const sum = (columns.get(at) ?? 0) + share;
                columns.set(at, sum);
                most = Math.max(most, sum);
            }
        }
        ink.fillStyle = this.colour("accept");
        for (const [at, number] of columns) {
            const height = Math.max(2, (number / most) * (WRITES - 16));
            ink.fillRect(at, top + WRITES - 14 - height, 1, height);
        }
        ink.strokeStyle = this.colour("reject");
        for (const [at] of this.data.rejects) {
            const left = this.x(at);
            if (left < GUTTER || left > this.width) continue;
            ink.beginPath();
            ink.moveTo(left - 3, top + WRITES - 11);
            ink.lineTo(left + 3, top + WRITES - 5);
            ink.moveTo(left + 3, top + WRITES - 11);
            ink.lineTo(left - 3, top + WRITES - 5);
            ink.stroke();
        }
    }

    drawClients(top) {
        const bin = this.data.run.end_us / this.data.clients.length;
        const most = Math.max(1, ...this.data.clients.map(([ok, fail, lost]) => ok + fail + lost));
        this.data.clients.forEach((counts, index) => {
            const part = this.clip(index * bin, (index + 1) * bin);
            if (!part) return;
            let bottom = top + CLIENTS - 6;
            ["ok", "fail", "lost"].forEach((kind, which) => {
                const height = (counts[which] / most) * (CLIENTS - 8);
                this.ink.fillStyle = this.colour(kind);
                this.ink.fillRect(part[0], bottom - height, Math.max(1, part[1] - 0.5), height);
                bottom -= height;
            });
        });
    }

    drawMarks() {
        this.ink.strokeStyle = this.colour("mark");
        this.ink.lineWidth = 1.5;
        for (const at of this.marks) {
            this.ink.beginPath();
            this.ink.moveTo(this.x(at), AXIS);
            this.ink.lineTo(this.x(at), this.height);
            this.ink.stroke();
        }
        this.ink.lineWidth = 1;
    }

    drawNames() {
        const name = (text, y) => {
            this.ink.fillStyle = this.colour("ink");
            this.ink.fillText(text, 8, y);
        };
        name("phase", AXIS + PHASES / 2);
        name("faults", AXIS + PHASES + BAND / 2);
        this.data.lanes.forEach((lane, index) => name(lane.name, this.laneTop(index) + BAR / 2 + 4));
        const top = this.laneTop(this.data.lanes.length);
        name("writes", top + WRITES / 2 - 4);
        name("clients", top + WRITES + CLIENTS / 2 - 2);
    }

    // ---- what is under the pointer ----

    point(event) {
        const box = this.canvas.getBoundingClientRect();
        const left = event.clientX - box.left, top = event.clientY - box.top;
        const said = left < GUTTER ? "" : this.told(left, top);
        this.tip.textContent = said;
        this.tip.style.display = said ? "block" : "none";
        this.tip.style.top = `${top + 16}px`;
        if (left > this.width / 2) {
            this.tip.style.left = "auto";
            this.tip.style.right = `${this.width - left + 8}px`;
        } else {
            this.tip.style.right = "auto";
            this.tip.style.left = `${left + 12}px`;
        }
    }

    told(left, top) {
        const at = this.x.invert(left), slack = this.x.invert(left + NEAR) - at;
        const lane = Math.floor((top - this.laneTop(0)) / LANE);
        if (top < AXIS + PHASES) return seconds(at, 6);
        if (top < this.laneTop(0)) return this.toldFaults(at, slack, Math.floor((top - AXIS - PHASES) / BAND));
        if (lane < this.data.lanes.length) return this.toldLane(at, slack, lane);
        return top < this.laneTop(this.data.lanes.length) + WRITES ? this.toldWrites(at, slack) : this.toldClients(at);
    }

    toldFaults(at, slack, row) {
        return this.data.faults
            .filter((fault, index) => this.rows[index] === row && fault[0] <= at + slack && fault[1] >= at - slack)
            .map(([from, to, touched, kind, targets, outcome, parameters, proof]) =>
                `${kind} ${targets}\n${seconds(from, 6)}, ${duration(to - from)}: ${outcome}` +
                `${parameters ? `, ${parameters}` : ""}\n${proof}${touched ? `; touched ${count(touched)}` : ""}`)
            .join("\n");
    }

    toldLane(at, slack, index) {
        const lane = this.data.lanes[index], lines = [`${lane.name} at ${seconds(at, 6)}`];
        for (const [from, to, role, term, leader] of lane.roles)
            if (from <= at && at <= to)
                lines.push(`${ROLES[role]}${leader ? ` of n${leader}` : ""}, term ${term}, for ${duration(to - from)}`);
        for (const [from, to, state] of lane.states)
            if (from <= at && at <= to) lines.push(`${state} for ${duration(to - from)}`);
        for (const [, time, process, line] of this.data.events)
            if (process === index + 1 && Math.abs(time - at) <= slack && lines.length < 12) lines.push(line);
        return lines.join("\n");
    }

    toldWrites(at, slack) {
        let number = 0, last;
        for (const write of this.writes)
            if (write[0] - slack <= at && at <= write[1] + slack) {
                number += write[2];
                last = write;
            }
        const refused = this.data.rejects.filter(([time]) => Math.abs(time - at) <= slack);
        const lines = [seconds(at, 6)];
        if (number) lines.push(`${count(number)} accepted, the last of n${last[3]} under token ${last[4]}`);
        for (const [, holder, token] of refused.slice(0, 5)) lines.push(`rejected: n${holder} under token ${token}`);
        return lines.join("\n");
    }

    toldClients(at) {
        const bins = this.data.clients.length;
        const [ok, fail, lost] = this.data.clients[Math.min(bins - 1, Math.floor((at / this.data.run.end_us) * bins))];
        return `${seconds(at)}: of the clients' operations ${ok} ok, ${fail} failed, ${lost} unknown`;
    }
}
