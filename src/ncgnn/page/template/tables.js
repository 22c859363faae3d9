// Numbers in tables, with bars.

/** A table of parts, each with its share as a bar on one scale; bars of negative parts go to the left. */
function bars(title, parts, whole) {
  const share = (part) => (whole ? part.value / whole : 0);
  const shares = parts.map(share);
  const right = Math.max(0, ...shares);
  const left = Math.max(0, ...shares.map((value) => -value));
  const rows = parts.map((part) => barRow(part, share(part), barOf(share(part), left, right)));
  return element("table", { class: "bars" }, element("caption", {}, title), element("tbody", {}, ...rows));
}

function barOf(share, left, right) {
  const width = left + right || 1;
  const bar = element("span", { class: share < 0 ? "bar against" : "bar" });
  bar.style.left = `${(100 * (share < 0 ? left + share : left)) / width}%`;
  bar.style.width = `${(100 * Math.abs(share)) / width}%`;
  return bar;
}

function barRow(part, share, bar) {
  return element(
    "tr",
    { class: part.quiet ? "quiet" : undefined },
    element("th", { scope: "row" }, part.name),
    element("td", { class: "track", "aria-hidden": "true" }, element("span", { class: "line" }, bar)),
    element("td", { class: "number" }, percent(share, 1)),
  );
}

const TITLE = 60; // letters of a title in a list

/** A node's id, and beside it what it is called where that is known. */
function nodeLink(node) {
  const title = node.title && element("span", { class: "title" }, ` ${shortened(node.title, TITLE)}`);
  return element("a", { href: linkTo(node.id), title: node.title ?? undefined }, node.id, title);
}

/** A node as a link, with the mark of its class, and what else is known of it. */
function nodeName(node) {
  const label = node.label === node.predicted ? "" : `: ${node.label}`;
  const trained = node.split === "train" ? element("span", { class: "tag" }, `training${label}`) : null;
  return element("span", { class: "class" }, swatch(node.predicted), nodeLink(node), trained);
}

/** Nodes with their predictions and labels. */
function nodeTable(title, rows) {
  const names = ["node", "predicted", "probability", "runner-up", "label", ...(report.groups ? ["main group"] : [])];
  const head = names.map((name) => element("th", { scope: "col" }, name));
  const body = rows.map((row) => nodeRow(known(row)));
  const table = element("table", { class: "list" }, element("thead", {}, element("tr", {}, ...head)));
  table.append(element("tbody", {}, ...body));
  return scrolled(title, table);
}

function nodeRow(node) {
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, nodeLink(node)),
    element("td", { "data-name": "predicted" }, classLabel(node.predicted)),
    element("td", { class: "number", "data-name": "probability" }, said(node.probability)),
    element("td", { "data-name": "runner-up" }, classLabel(node.second), ` ${said(node.second_probability)}`),
    element("td", { "data-name": "label" }, node.label === null ? "unknown" : classLabel(node.label)),
    node.group === null ? null : element("td", { "data-name": "main group" }, node.group),
  );
}

/** A matrix whose cells are tinted: blue by a share between 0 and 1, orange by one between -1 and 0. */
function heatTable(corner, rows, columns, cells) {
  const head = columns.map((name) => element("th", { scope: "col", title: name }, element("span", {}, name)));
  const body = rows.map((name, i) =>
    element("tr", {}, element("th", { scope: "row", title: name }, name), ...cells[i].map(heatCell)),
  );
  const table = element("table", { class: "heat" });
  table.append(element("thead", {}, element("tr", {}, element("td", {}, corner), ...head)));
  table.append(element("tbody", {}, ...body));
  return scrolled(corner, table);
}

function heatCell({ text, share }) {
  const cell = element("td", { class: share < 0 ? "below" : "above" }, text);
  cell.style.setProperty("--share", `${(60 * Math.abs(share)).toFixed(1)}%`);
  return cell;
}
