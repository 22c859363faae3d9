// What the page was written with, and the one place where the reasons of a node come from.

const embedded = (name) => JSON.parse(document.getElementById(name).textContent);
const report = embedded("overview-data");
const rowOf = new Map(report.nodes.id.map((id, row) => [id, row]));
const ROLES = [null, "train", "val", "test", "calibration"];
const isServed = document.getElementById("views-data").textContent === "null";
let views; // most of the file, read when the first node is asked for

/** All about one node, or null where there is no such node or this file does not explain it. */
async function loadNode(id) {
  if (isServed) return fetchNode(id);
  views ??= embedded("views-data");
  const row = rowOf.get(id);
  return row in views.nodes ? expanded(row, views.nodes[row]) : null;
}

async function fetchNode(id) {
  const answer = await fetch(`api/view?node=${encodeURIComponent(id)}`).catch(() => null); // null: the server is gone
  return answer?.ok ? answer.json() : null;
}

/** What is predicted and known of a node of the table, with names. */
function known(row) {
  const { nodes, classes } = report;
  return {
    id: nodes.id[row],
    title: nodes.title?.[row] ?? null,
    predicted: classes[nodes.predicted[row]],
    probability: nodes.probability[row],
    second: classes[nodes.second[row]],
    second_probability: nodes.second_probability[row],
    label: classes[nodes.label[row]] ?? null,
    split: ROLES[nodes.split[row]],
    group: report.groups ? report.groups[nodes.group[row]].name : null,
  };
}

/** What a group of capsules reads, in words. */
const groupWords = (name) => report.groups.find((group) => group.name === name).words;

/** A view with names instead of places in tables. */
function expanded(row, view) {
  const named = ([feature, value]) => [views.features[feature], value];
  const neighbours = view.neighbours.map(([place, value, distance, ...features], i) => ({
    ...known(place),
    value,
    distance,
    believed: view.believed?.[i] ?? null,
    features: features.map((feature) => views.features[feature]),
  }));
  const around = [report.nodes.id[row], ...neighbours.map((other) => other.id)];
  const ends = view.links.map((place) => around[place]);
  return {
    ...known(row),
    ...view,
    features: { ...view.features, largest: view.features.largest.map(named) },
    neighbours,
    links: ends.flatMap((id, i) => (i % 2 ? [] : [[id, ends[i + 1]]])),
  };
}

/** A class in a sentence: a number alone would not read as one. */
const classSaid = (name) => (/^\d+$/.test(name) ? `class ${name}` : name);

/** A node's id and, where it has one, its title. */
const fullName = ({ id, title }) => (title === null ? id : `${id} “${title}”`);

/** What there is little room for. */
const shortName = ({ id, title }) => title ?? id;

const linkTo = (id) => `#node=${encodeURIComponent(id)}`;
const percent = (share, digits = 0) => {
  const text = Math.abs(100 * share).toFixed(digits);
  return `${share < 0 && Number(text) ? "−" : ""}${text} %`;
};

/** A probability; one that is not calibrated says so. */
const said = (probability) => `${report.calibrated ? "" : "≈ "}${percent(probability)}`;
const grouped = (number) => number.toLocaleString("en");
