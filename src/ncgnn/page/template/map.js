// The map: all nodes on a plane, drawn on a canvas, with one of them pointed at by mouse or arrow keys.

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function makeMap() {
  const canvas = element("canvas", {
    tabindex: "0",
    role: "application",
    "aria-label": "Map of nodes. Arrow keys go from node to node, Enter opens one.",
  });
  const tip = element("p", { class: "tip", role: "status", hidden: "" });
  const map = { canvas, tip, pointed: null, found: new Set(), lit: null, litGroup: null, draw: () => drawMap(map) };
  canvas.addEventListener("pointermove", (event) => point(map, nearest(map, event)));
  canvas.addEventListener("pointerleave", () => point(map, null));
  canvas.addEventListener("blur", () => point(map, null));
  canvas.addEventListener("click", (event) => openNode(map, nearest(map, event)));
  canvas.addEventListener("keydown", (event) => press(map, event));
  new ResizeObserver(map.draw).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", map.draw);
  map.box = element("div", { class: "map" }, canvas, tip);
  return map;
}

/** From the plane to the canvas and back: as large as fits, in the middle. */
function frame(map) {
  const { clientWidth: width, clientHeight: height } = map.canvas;
  const [right, low] = [0, 1].map((axis) => Math.max(1, ...report.places.map((place) => place[axis])));
  const scaleX = (width - 24) / right;
  const scaleY = (height - 24) / low;
  return { width, height, at: ([x, y]) => [12 + x * scaleX, 12 + y * scaleY] };
}

function drawMap(map) {
  const { width, height, at } = frame(map);
  if (!width) return;
  const dots = window.devicePixelRatio || 1;
  Object.assign(map.canvas, { width: width * dots, height: height * dots });
  const pen = map.canvas.getContext("2d");
  const style = getComputedStyle(map.canvas);
  const colours = report.classes.map((_, number) => style.getPropertyValue(colourName(number)));
  const paths = report.classes.map((_, number) => new Path2D(shapeOf(number)));
  const size = Math.max(2.2, Math.min(6, 110 / Math.sqrt(report.places.length)));
  const ink = style.getPropertyValue("--ink");
  report.places.forEach((place, row) => {
    const [x, y] = at(place);
    const number = shownClass(row);
    const scale = dots * (isMarked(map, row) ? 2.2 * size : size);
    pen.setTransform(scale, 0, 0, scale, x * dots, y * dots);
    pen.globalAlpha = isLit(map.lit, number) && isLit(map.litGroup, report.nodes.group?.[row]) ? 0.85 : 0.08;
    pen.fillStyle = colours[number];
    pen.fill(paths[number]);
    if (isMarked(map, row) || isWrong(row)) {
      pen.lineWidth = isMarked(map, row) ? 0.3 : 0.55;
      pen.strokeStyle = isMarked(map, row) ? ink : colours[report.nodes.predicted[row]];
      pen.stroke(isMarked(map, row) ? paths[number] : RING);
    }
  });
}

const RING = new Path2D("M1.9 0A1.9 1.9 0 1 1-1.9 0A1.9 1.9 0 1 1 1.9 0Z");

/** The class that a node is known to have, or is predicted. */
const shownClass = (row) => (report.nodes.label[row] >= 0 ? report.nodes.label[row] : report.nodes.predicted[row]);
const isLit = (chosen, number) => chosen === null || chosen === number;
const isMarked = (map, row) => row === map.pointed || map.found.has(row);
const isWrong = (row) => report.nodes.label[row] >= 0 && report.nodes.label[row] !== report.nodes.predicted[row];

function nearest(map, event) {
  const { at } = frame(map);
  const box = map.canvas.getBoundingClientRect();
  const distances = report.places.map((place) => {
    const [x, y] = at(place);
    return Math.hypot(x + box.left - event.clientX, y + box.top - event.clientY);
  });
  const least = distances.indexOf(Math.min(...distances));
  return distances[least] < 24 ? least : null;
}

function point(map, row) {
  if (row === map.pointed) return;
  map.pointed = row;
  map.tip.hidden = row === null;
  map.canvas.classList.toggle("pointing", row !== null);
  if (row !== null) tell(map, row);
  map.draw();
}

function tell(map, row) {
  const node = known(row);
  const label = node.label === null ? "label unknown" : `label ${node.label}`;
  const words = `${fullName(node)}: ${node.predicted} ${said(node.probability)}, ${label}`;
  const main = node.group === null ? null : `mainly ${node.group}`;
  map.tip.textContent = [words, node.split, main].filter(Boolean).join(", ");
  const { at, width } = frame(map);
  const [x, y] = at(report.places[row]);
  map.tip.style.left = `${Math.max(0, Math.min(x + 12, width - map.tip.offsetWidth))}px`;
  map.tip.style.top = `${y > 48 ? y - 40 : y + 16}px`;
}

function openNode(map, row) {
  if (row !== null) location.hash = linkTo(report.nodes.id[row]);
}

function press(map, event) {
  if (event.key === "Enter") return openNode(map, map.pointed);
  const step = STEPS[event.key];
  if (!step) return;
  event.preventDefault();
  point(map, map.pointed === null ? 0 : nextNode(map.pointed, step));
}

/** The nearest node that lies rather in the direction of the step than beside it. */
function nextNode(from, [dx, dy]) {
  const [x0, y0] = report.places[from];
  let best = from;
  let least = Infinity;
  report.places.forEach(([x, y], row) => {
    const ahead = (x - x0) * dx + (y - y0) * dy;
    const beside = Math.abs((x - x0) * dy) + Math.abs((y - y0) * dx);
    if (ahead > 0 && beside <= 2 * ahead && ahead + beside < least) [best, least] = [row, ahead + beside];
  });
  return best;
}

/** The classes with their marks; pressing one dims all others. */
const legend = (map) => switches(map, "lit", "Show one class", report.classes.map((name) => [swatch(name), name]));

/** The groups of capsules, where there are several: pressing one leaves the nodes whose main group it is. */
const groupLegend = (map) =>
  report.groups && switches(map, "litGroup", "Show nodes by main group", report.groups.map(({ words }) => [words]));

function switches(map, which, label, names) {
  const buttons = names.map((name, number) => {
    const press = () => {
      map[which] = map[which] === number ? null : number;
      buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === map[which])));
      map.draw();
    };
    return element("button", { type: "button", "aria-pressed": "false", onclick: press }, ...name);
  });
  return element("div", { class: "legend", role: "group", "aria-label": label }, ...buttons);
}
