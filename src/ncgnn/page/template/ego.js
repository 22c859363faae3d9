// The nodes that contribute most, around the one that is explained: on a ring by distance, behind the node through
// which they are linked. A line towards the middle is as wide as the contribution of the node that it comes from.

const LINE = 13; // the height of a line
const BESIDE = 15; // from a leaf to its name
const pen = document.createElement("canvas").getContext("2d");
const BEYOND = 5; // the ring of nodes that are too far away to be counted

function egoNetwork(node, neighbours, width) {
  const height = Math.min(560, Math.max(300, width));
  const tree = grow(node, neighbours);
  const farthest = Math.max(1, ...tree.map((leaf) => leaf.ring));
  const reach = { x: width / 2 - Math.min(96, width / 5), y: height / 2 - 26 };
  for (const leaf of tree) {
    leaf.x = width / 2 + (reach.x * leaf.ring * Math.cos(leaf.angle)) / farthest;
    leaf.y = height / 2 + (reach.y * leaf.ring * Math.sin(leaf.angle)) / farthest;
  }
  nameWhereFree(tree, width);
  const label = `The ${tree.length - 1} nodes that contribute most to node ${node.id}; they are listed beside.`;
  const picture = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": label, class: "ego" });
  picture.append(...rings(farthest, width, height, reach), ...otherLinks(tree, node.links), ...branches(tree, node.whole));
  picture.append(...tree.slice(1).map(leafMark), middle(tree[0]));
  return picture;
}

/** The explained node, then its neighbours, each with a ring, an angle and the place of the one it hangs from. */
function grow(node, neighbours) {
  const tree = [{ ...node, ring: 0, angle: 0, parent: null }];
  const linked = linkedTo(node.links);
  const ringOf = (other) => other.distance ?? BEYOND;
  for (const other of [...neighbours].sort((a, b) => ringOf(a) - ringOf(b))) {
    const ring = ringOf(other);
    const parent = tree.find((leaf) => leaf.ring === ring - 1 && linked(leaf.id, other.id));
    tree.push({ ...other, ring, parent: parent ?? tree[0], isLinked: Boolean(parent) });
  }
  spread(tree, tree[0], -Math.PI / 2, 2 * Math.PI);
  return tree;
}

/** An angle for everything that hangs from a node, in proportion to how many ends it has. */
function spread(tree, leaf, start, width) {
  leaf.angle = start + width / 2;
  const children = tree.filter((other) => other.parent === leaf);
  const ends = children.map((child) => countEnds(tree, child));
  const all = ends.reduce((sum, count) => sum + count, 0);
  children.forEach((child, i) => {
    spread(tree, child, start, (width * ends[i]) / all);
    start += (width * ends[i]) / all;
  });
}

function countEnds(tree, leaf) {
  const children = tree.filter((other) => other.parent === leaf);
  return children.length ? children.reduce((sum, child) => sum + countEnds(tree, child), 0) : 1;
}

function linkedTo(links) {
  const pairs = new Set(links.flatMap(([a, b]) => [JSON.stringify([a, b]), JSON.stringify([b, a])]));
  return (a, b) => pairs.has(JSON.stringify([a, b]));
}

function rings(farthest, width, height, reach) {
  return Array.from({ length: farthest }, (_, i) => {
    const [rx, ry] = [(reach.x * (i + 1)) / farthest, (reach.y * (i + 1)) / farthest];
    const words = i + 1 === BEYOND ? "farther" : i ? `${i + 1} steps` : "1 step";
    const place = { x: width / 2, y: height / 2 - ry - 4, "text-anchor": "middle", class: "distance" };
    const ring = drawn("ellipse", { cx: width / 2, cy: height / 2, rx, ry, class: "ring" });
    return drawn("g", {}, ring, drawn("text", place, words));
  });
}

const WIDEST = 40; // a line that stood for the whole

/** As wide as its share, on the one scale of bars and sentence; what is too small to be seen is drawn thin. */
const lineWidth = (value, whole) => Math.max(0.4, whole ? (WIDEST * Math.abs(value)) / whole : 0);

function branches(tree, whole) {
  return tree.slice(1).map((leaf) => {
    const kind = ["branch", leaf.value < 0 ? "against" : "", leaf.isLinked ? "" : "unlinked"].join(" ");
    return line(leaf, leaf.parent, kind, lineWidth(leaf.value, whole));
  });
}

function otherLinks(tree, links) {
  const leaves = new Map(tree.map((leaf) => [leaf.id, leaf]));
  const shown = links.map((ends) => ends.map((id) => leaves.get(id))).filter(([a, b]) => a && b);
  return shown.filter(([a, b]) => a.parent !== b && b.parent !== a).map(([a, b]) => line(a, b, "link", 1));
}

function line(a, b, kind, width) {
  const ends = { x1: a.x, y1: a.y, x2: b.x, y2: b.y };
  for (const [name, value] of Object.entries(ends)) ends[name] = value.toFixed(1);
  return drawn("line", { ...ends, class: kind, "stroke-width": width.toFixed(2) });
}

const side = (leaf) => (Math.cos(leaf.angle) >= 0 ? 1 : -1); // of its name: to the right or to the left

/** As much of a name as fits into so many pixels; nothing where that would be hardly any of it. */
function fitted(name, room) {
  let shown = shortened(name, 18);
  while (shown.length > 4 && pen.measureText(shown).width > room) shown = shortened(name, shown.length - 1);
  return pen.measureText(shown).width > room ? "" : shown;
}

/** A name for each leaf, as far as there is room and where it covers no other name and no mark; those that contribute
 * more come first. What speaks against keeps its sign. */
function nameWhereFree([root, ...leaves], width) {
  pen.font = `bold ${getComputedStyle(document.body).font.replace(/^\D*[\d.]+px/, "12px")}`;
  const half = pen.measureText(shortened(shortName(root), 24)).width / 2;
  const taken = leaves.map((leaf) => [leaf.x - 11, leaf.x + 11, leaf.y]);
  taken.push([root.x - half, root.x + half, root.y + 28], [root.x - 17, root.x + 17, root.y]);
  for (const leaf of leaves.sort((a, b) => Math.abs(b.value) - Math.abs(a.value))) {
    const sign = leaf.value < 0 ? "− " : "";
    const start = leaf.x + BESIDE * side(leaf);
    const name = fitted(sign + shortName(leaf), side(leaf) > 0 ? width - start : start);
    const end = start + side(leaf) * pen.measureText(name).width;
    const [left, right] = [Math.min(start, end), Math.max(start, end)];
    const isFree = !taken.some(([from, to, y]) => left < to && from < right && Math.abs(leaf.y - y) < LINE);
    leaf.name = isFree && name ? name : sign;
    if (isFree && name) taken.push([left, right, leaf.y]);
  }
}

function leafMark(leaf) {
  const anchor = side(leaf) > 0 ? "start" : "end";
  const place = { x: leaf.x + BESIDE * side(leaf), y: leaf.y + 4, "text-anchor": anchor };
  const link = drawn("a", { href: linkTo(leaf.id), "aria-label": spoken(leaf) });
  const halo = leaf.split === "train" ? drawn("circle", { cx: leaf.x, cy: leaf.y, r: 11.5, class: "trained" }) : null;
  const target = drawn("circle", { cx: leaf.x, cy: leaf.y, r: 13, class: "target" }); // room for a finger
  link.append(...[target, halo, mark(leaf.predicted, 7, leaf.x, leaf.y)].filter(Boolean));
  link.append(drawn("text", place, leaf.name), drawn("title", {}, about(leaf)));
  return link;
}

const spoken = (leaf) => `${fullName(leaf)}, ${leaf.predicted}${leaf.value < 0 ? ", speaks against" : ""}`;

function about(leaf) {
  const away = leaf.distance === null ? "far away" : `${leaf.distance} ${leaf.distance === 1 ? "step" : "steps"} away`;
  const role = leaf.split === "train" ? `, training node of class ${leaf.label}` : "";
  return `${fullName(leaf)}: ${leaf.predicted} ${said(leaf.probability)}, ${away}${role}`;
}

function middle(root) {
  const group = drawn("g", { class: "middle" }, drawn("circle", { cx: root.x, cy: root.y, r: 17 }));
  const text = drawn("text", { x: root.x, y: root.y + 32, "text-anchor": "middle" }, shortened(shortName(root), 24));
  group.append(mark(root.predicted, 10, root.x, root.y), text);
  return group;
}
