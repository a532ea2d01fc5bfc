// Small things that every part needs: elements, times and numbers as people write them.

export function element(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (typeof value === "function") node.addEventListener(name, value);
        else if (value !== undefined && value !== null) node.setAttribute(name, value);
    }
    node.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return node;
}

export function seconds(us, digits = 3) {
    return `${(us / 1e6).toFixed(digits)}s`;
}

// Three digits of a duration, with the unit that fits.
export function duration(us) {
    if (us === null) return "";
    if (us < 1e3) return `${us.toPrecision(3)}us`;
    if (us < 1e6) return `${(us / 1e3).toPrecision(3)}ms`;
    return `${(us / 1e6).toPrecision(us < 1e9 ? 3 : 6)}s`;
}

export function count(number) {
    return number.toLocaleString("en");
}

export function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

// Nearest rank: always a value that was measured.
export function quantile(sorted, share) {
    return sorted.length ? sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] : null;
}

export function table(heads, rows, numbers = []) {
    const align = (index) => (numbers.includes(index) ? "number" : "");
    return element("table", {},
        element("thead", {}, element("tr", {},
            heads.map((head, index) => element("th", { class: align(index) }, head)))),
        element("tbody", {}, rows.map((row) => element("tr", {},
            row.map((cell, index) => element("td", { class: align(index) }, cell))))));
}
