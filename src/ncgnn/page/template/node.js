// The view of one node.

const FIRST_SHOWN = 12;
const ROLE_NAMES = {
  train: "training",
  val: "validation",
  test: "test",
  calibration: "calibration",
};

function nodeView(node) {
  return [
    element("p", {}, element("a", { href: "#" }, "← All nodes")),
    element("h1", { tabindex: "-1" }, `Node ${fullName(node)}`),
    verdict(node),
    element("p", { class: "words" }, node.words),
    neighbourhood(node),
    element("div", { class: "columns" }, lead(node), trainingLabels(node), ...splits(node)),
  ];
}

/** The prediction, the runner-up and what is known. */
function verdict(node) {
  const facts = [
    ["predicted", classLabel(node.predicted), node.probability],
    ["runner-up", classLabel(node.second), node.second_probability],
    ["label", node.label === null ? "unknown" : classLabel(node.label), null],
    ["split", ROLE_NAMES[node.split] ?? "none", null],
  ];
  if (node.group !== null) facts.push(["main reason", groupWords(node.group), null]);
  const isWrong = node.label !== null && node.label !== node.predicted;
  return element(
    "dl",
    { class: "facts" },
    ...facts.map(([name, value, probability]) =>
      element(
        "div",
        { class: name === "label" && isWrong ? "wrong" : undefined },
        element("dt", {}, name === "label" && isWrong ? "label, not the predicted" : name),
        element("dd", {}, value, probability === null ? null : ` ${probability.toFixed(2)}`),
      ),
    ),
  );
}

/** The network and the list of the nodes that contribute most, with a slider for how many. */
function neighbourhood(node) {
  const most = node.neighbours.length;
  if (!most) return section("Nodes", element("p", {}, "No node contributes: the score is the bias only."));
  const first = Math.min(FIRST_SHOWN, most);
  const slider = element("input", { type: "range", id: "shown", min: 1, max: most, value: first });
  const count = element("output", { for: "shown" });
  const picture = element("div", { class: "network" });
  const list = element("div", { class: "neighbours" });
  const show = () => {
    const shown = Number(slider.value);
    count.textContent = `${shown} of ${most}`;
    list.replaceChildren(neighbourBars(node, shown));
    const width = picture.clientWidth; // none before the view is shown
    if (width) picture.replaceChildren(egoNetwork(node, node.neighbours.slice(0, shown), width));
  };
  slider.addEventListener("input", show);
  new ResizeObserver(show).observe(picture);
  const control = element("p", { class: "slider" }, element("label", { for: "shown" }, "Nodes shown"), slider, count);
  const note =
    "Line width is proportional to a node's contribution; a dotted line passes through nodes that are not shown. " +
    "Marks show the predicted class, a minus sign a negative contribution. Circled: training nodes. Overlapping " +
    "names are hidden; the list has all of them.";
  return section(
    "Nodes that contribute most",
    control,
    element("div", { class: "pair" }, element("div", {}, picture, element("p", { class: "note" }, note)), list),
  );
}

const namedPart = (node) => (other) => ({
  name: other.id === node.id ? "the node itself" : nodeName(other),
  value: other.value,
});

/** What puts the prediction ahead of the runner-up, and what speaks for that one. */
function lead(node) {
  const parts = withRest(node.lead, node.lead.neighbours.map(namedPart(node)), "all other nodes", node.lead.rest);
  const sides = `to the right for ${node.predicted}, to the left for ${node.second}`;
  const caption = `A lead of ${percent(node.score ? node.lead.score / node.score : 0, 1)} of the score: ${sides}`;
  return section(`Why ${node.predicted} rather than ${node.second}`, bars(caption, parts, node.score));
}

function neighbourBars(node, shown) {
  const named = node.neighbours.slice(0, shown).map((other) => {
    const { name, value } = namedPart(node)(other);
    const through = other.features.length ? element("small", {}, `by ${other.features.join(", ")}`) : null;
    const taken = other.believed === null ? null : element("small", {}, "taken for ", classLabel(other.believed));
    return { name: element("span", {}, name, taken, through), value };
  });
  const others = node.neighbours.slice(shown).reduce((sum, other) => sum + other.value, node.rest);
  return bars(`Share of the score ${node.score}`, withRest(node, named, "all other nodes", others), node.score);
}

const withRest = (node, named, name, rest) => [
  ...named,
  { name, value: rest, quiet: true },
  { name: "bias", value: node.bias, quiet: true },
];

const WALKS = "by walk length in hops (a step may stay at the same node)";
const READ = "by what a group of capsules reads";
const WHOSE = "by features of all contributing nodes, not only this one";

function splits(node) {
  const pairs = (parts) => parts.map(([name, value]) => ({ name, value }));
  const bias = { name: "bias", value: node.bias, quiet: true };
  const groups = node.groups?.map(([group, value]) => ({
    name: element("span", {}, group, element("small", {}, groupWords(group))),
    value,
  }));
  const hopName = (hop) => (hop === "0" ? "hop 0, the node itself" : /^\d+$/.test(hop) ? `hop ${hop}` : hop);
  const hops = node.hops?.map(([hop, value]) => ({ name: hopName(hop), value }));
  const capsules = node.capsules.map((value, k) => ({ name: `capsule ${report.capsules[k]}`, value }));
  const features = withRest(node, pairs(node.features.largest), "all other features", node.features.rest);
  features.push({ name: "bias of the capsules", value: node.features.bias, quiet: true });
  const caption = "Share of the score";
  return [
    groups && section("By group", bars(`${caption}, ${READ}`, [...groups, bias], node.score)),
    hops && section("By hop", bars(`${caption}, ${WALKS}`, [...hops, bias], node.score)),
    section("By capsule", bars(caption, [...capsules, bias], node.score)),
    section("By feature", bars(`${caption}, ${WHOSE}`, features, node.score)),
  ].filter(Boolean);
}

/** Training nodes among the contributing ones, by label. */
function trainingLabels(node) {
  const trained = node.neighbours.filter((other) => other.split === "train");
  const title = "Training labels that mattered";
  if (report.trained === null) return section(title, element("p", {}, "The training nodes are unknown."));
  const among = `among the ${node.neighbours.length} nodes that contribute most`;
  if (!trained.length) return section(title, element("p", {}, `There are no training nodes ${among}.`));
  const labels = [...new Set(trained.map((other) => other.label))];
  const parts = labels.map((label) => {
    const members = trained.filter((other) => other.label === label);
    const value = members.reduce((sum, other) => sum + other.value, 0);
    const links = members.flatMap((other, i) => [i ? ", " : " ", nodeLink(other)]);
    return { name: element("span", {}, classLabel(label), element("small", {}, ...links)), value };
  });
  parts.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const counted = trained.length === 1 ? "1 training node" : `${trained.length} training nodes`;
  return section(title, bars(`${counted} ${among}`, parts, node.score));
}

/** What can be said of a node that is not explained here. */
function unexplained(id) {
  const row = rowOf.get(id);
  const back = element("p", {}, element("a", { href: "#" }, "← All nodes"));
  const title = element("h1", { tabindex: "-1" }, row === undefined ? "No such node" : `Node ${fullName(known(row))}`);
  if (row === undefined) return [back, title, element("p", {}, `This page knows no node ${id}.`)];
  const reason = isServed
    ? "The server does not respond."
    : "This file contains explanations of selected nodes only, and this node is not one of them.";
  return [back, title, verdict(known(row)), element("p", {}, reason)];
}
