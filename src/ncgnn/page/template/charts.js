// The drawings of the overview.

function confusion({ confusion: counts }) {
  const cells = counts.map((row) => {
    const total = row.reduce((sum, count) => sum + count, 0) || 1;
    return row.map((count) => ({ text: count ? grouped(count) : "·", share: count / total }));
  });
  return heatTable("label ↓ predicted →", report.classes, report.classes, cells);
}

/** Mean couplings; what is above or below that of equal ones is tinted, all of it on one scale. */
function couplings() {
  const equal = 1 / report.couplings.length;
  const farthest = Math.max(...report.couplings.flat().map((c) => Math.abs(c - equal))) || 1;
  const scale = Math.max(farthest, equal / 10); // tints must not make much of differences that are nothing
  const cells = report.couplings.map((row) => row.map((c) => ({ text: c.toFixed(3), share: (c - equal) / scale })));
  const rows = cells.map((_, k) => `capsule ${report.capsules[k]}`);
  return heatTable("capsule ↓ class →", rows, report.classes, cells);
}

const SIDE = 300;
const MARGIN = 38;
const along = (share) => MARGIN + share * (SIDE - MARGIN - 22);
const up = (share) => SIDE - along(share);

/** Probability against the share that is right; on the diagonal, probabilities keep their word. */
function reliability({ bins, error, judged }) {
  const said = `Of ${grouped(judged)} predictions, in bins by probability: the share that is right. `;
  const label = said + bins.map((bin) => `${percent(bin.probability)}: ${percent(bin.right)}`).join(", ");
  const picture = drawn("svg", { viewBox: `0 0 ${SIDE} ${SIDE}`, role: "img", "aria-label": label, class: "diagram" });
  picture.append(...axes("probability", "share right"));
  picture.append(drawn("line", { x1: along(0), y1: up(0), x2: along(1), y2: up(1), class: "ideal" }));
  const most = Math.max(...bins.map((bin) => bin.count));
  const points = bins.map((bin) => `${along(bin.probability)},${up(bin.right)}`).join(" ");
  picture.append(drawn("polyline", { points, class: "course" }));
  for (const bin of bins) {
    const size = 3 + 7 * Math.sqrt(bin.count / most);
    const place = { cx: along(bin.probability), cy: up(bin.right), r: size, class: "bin" };
    const text = `${grouped(bin.count)} nodes: probability ${percent(bin.probability)}, right ${percent(bin.right)}`;
    picture.append(drawn("circle", place, drawn("title", {}, text)));
  }
  return element("div", {}, picture, element("p", { class: "note" }, calibrationNote(bins, error, judged)));
}

const ENOUGH = 200; // predictions of which the share right is known to a few points

function calibrationNote(bins, error, judged) {
  const lean = bins.reduce((sum, bin) => sum + bin.count * (bin.right - bin.probability), 0);
  const side = lean > 0 ? "less sure than it could be" : "surer than it should be";
  const few = `; on ${grouped(judged)} predictions that may be chance`;
  const distance = `On average the distance is ${percent(error, 1)}; the model is ${side}${judged < ENOUGH ? few : ""}.`;
  return `A dot above the line: right more often than said. ${distance}`;
}

function axes(across, upwards) {
  const made = [drawn("path", { d: `M${along(0)} ${up(1)}V${up(0)}H${along(1)}`, class: "axis" })];
  for (const share of [0, 0.5, 1]) {
    made.push(drawn("text", { x: along(share), y: up(0) + 14, "text-anchor": "middle" }, percent(share)));
    const beside = { x: along(0) - 5, y: up(share) + 4, "text-anchor": "end" };
    if (share) made.push(drawn("text", beside, (100 * share).toFixed(0)));
  }
  made.push(drawn("text", { x: along(0.5), y: SIDE - 8, "text-anchor": "middle" }, across));
  const turned = { transform: `translate(12 ${up(0.5)}) rotate(-90)`, "text-anchor": "middle" };
  return [...made, drawn("text", turned, upwards)];
}

function hopBars() {
  if (!report.hops) return element("p", {}, "This filter is not a finite sum over hops, so hops have no weights.");
  const parts = report.hops.map(([hop, value]) => ({ name: report.groups ? hop : `hop ${hop}`, value }));
  return bars("Weight of each hop in the filter", parts, 1);
}
