// The view of one node.

const FIRST_SHOWN = 12;
const ROLE_NAMES = {
  train: "training",
  val: "validation",
  test: "test",
  calibration: "calibration",
};

const ROLE_WORDS = (node) => ROLE_NAMES[node.split] ?? (node.label === null ? "to be predicted" : "not in any split");

function nodeView(node) {
  const gone = { neighbours: new Set(), features: new Set() };
  const changed = element("div", { class: "changed", role: "status" });
  const redraw = [];
  const update = () => {
    showChange(node, gone, changed);
    redraw.forEach((draw) => draw());
  };
  const details = element("details", {}, element("summary", {}, "Details"));
  details.append(element("div", { class: "columns" }, trainingLabels(node), ...splits(node)));
  return [
    element("p", {}, element("a", { href: "#" }, "← All nodes")),
    element("h1", { tabindex: "-1" }, `Node ${fullName(node)}`),
    element("p", { class: "words" }, node.sentence),
    verdict(node),
    element("p", {}, node.rather.replaceAll(" %", "\u00a0%")),
    whatIf(node, changed),
    neighbourhood(node, gone, update, redraw),
    ownFeatures(node, gone, update, redraw),
    details,
    element("p", { class: "note" }, shareNote()),
  ].filter(Boolean);
}

const shareNote = () =>
  isServed
    ? "To show a colleague this node, send the address of this page."
    : "To send one node alone, write its own file with --page and --node.";

/** What would change the class, and what was ticked off. */
function whatIf(node, changed) {
  const found = node.change
    ? node.change.map((sentence) => element("p", {}, sentence))
    : [element("p", {}, "Untick a neighbour or a feature to see an estimate; --what-if finds the fewest.")];
  return section("What would change it", ...found, changed);
}

/** The lead without what was ticked off: estimated at once, computed by the server where there is one. */
function showChange(node, gone, changed) {
  const off = [...node.neighbours.filter((other) => gone.neighbours.has(other.id))];
  const features = node.own.filter(([, , id]) => gone.features.has(id));
  const count = off.length + features.length;
  changed.replaceChildren();
  if (!count) return;
  // the features of a node that is taken away go with it
  const parts = [...off.map((other) => other.value), ...features.map(([, value]) => value)];
  const lead = parts.reduce((left, value) => left - value, node.score);
  const share = percent(node.whole ? lead / node.whole : 0, 1);
  const [first, second] = [node.predicted, node.second].map(classSaid);
  const ahead = lead > 0 ? `${first} stays ahead of ${second}` : `${second} gets ahead of ${first}`;
  const before = percent(node.whole ? node.score / node.whole : 0, 1);
  const scale = { name: `lead of ${first}`, value: lead };
  const text = `Without ${count === 1 ? "it" : `these ${count}`}: ${ahead}. Its lead goes from ${before} to ${share} (estimate).`;
  changed.append(element("p", {}, text), bars("Estimate: all else held fixed", [{ name: "lead before", value: node.score }, scale], node.whole));
  if (isServed) exactly(node, gone, changed);
}

async function exactly(node, gone, changed) {
  const asked = JSON.stringify([...gone.neighbours, "|", ...gone.features]);
  changed.dataset.asked = asked;
  const query = new URLSearchParams({ node: node.id });
  gone.neighbours.forEach((id) => query.append("neighbours", id));
  gone.features.forEach((id) => query.append("features", id));
  const answer = await fetch(`api/without?${query}`).catch(() => null);
  if (!answer?.ok || changed.dataset.asked !== asked) return;
  const { predicted, probability } = await answer.json();
  changed.append(element("p", {}, `Computed by the model: ${predicted}, ${percent(probability)}.`));
}

/** A box to tick something off. */
function tick(kind, id, name, gone, update) {
  const box = element("input", { type: "checkbox", "aria-label": `with ${name}` });
  box.checked = !gone[kind].has(id);
  box.addEventListener("change", () => {
    if (box.checked) gone[kind].delete(id);
    else gone[kind].add(id);
    update();
    document.querySelector(`input[data-id="${CSS.escape(`${kind} ${id}`)}"]`)?.focus();
  });
  box.dataset.id = `${kind} ${id}`;
  return box;
}

/** What the node itself has. */
function ownFeatures(node, gone, update, redraw) {
  if (!node.own.length) return null;
  const place = element("div", {});
  const draw = () => {
    const parts = node.own.map(([name, value, id]) => {
      const label = element("span", {}, tick("features", id, name, gone, update), " ", name);
      return { name: label, value: gone.features.has(id) ? 0 : value };
    });
    const title = `Share of what tells ${classSaid(node.predicted)} from ${classSaid(node.second)}`;
    place.replaceChildren(bars(title, parts, node.whole));
  };
  redraw.push(draw);
  draw();
  return section("Its own features", place);
}

/** The prediction, the runner-up and what is known. */
function verdict(node) {
  const facts = [
    ["predicted", classLabel(node.predicted), node.probability],
    ["runner-up", classLabel(node.second), node.second_probability],
    ["label", node.label === null ? "unknown" : classLabel(node.label), null],
    ["role", ROLE_WORDS(node), null],
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
        element("dd", {}, value, ...(probability === null ? [] : [" ", element("span", { class: "number" }, said(probability))])),
      ),
    ),
  );
}

/** The network and the list of the nodes that contribute most, with a slider for how many. */
function neighbourhood(node, gone, update, redraw) {
  const most = node.neighbours.length;
  if (!most) return section("Neighbours", element("p", {}, "It has no neighbours that contribute."));
  const first = Math.min(FIRST_SHOWN, most);
  const slider = element("input", { type: "range", id: "shown", min: 1, max: most, value: first });
  const count = element("output", { for: "shown" });
  const picture = element("div", { class: "network" });
  const list = element("div", { class: "neighbours" });
  const show = () => {
    const shown = Number(slider.value);
    count.textContent = `${shown} of ${most}`;
    list.replaceChildren(neighbourBars(node, shown, gone, update));
    const width = picture.clientWidth; // none before the view is shown
    const kept = node.neighbours.slice(0, shown).filter((other) => !gone.neighbours.has(other.id));
    if (width) picture.replaceChildren(egoNetwork(node, kept, width));
  };
  redraw.push(show);
  slider.addEventListener("input", show);
  new ResizeObserver(show).observe(picture);
  const control = element("p", { class: "slider" }, element("label", { for: "shown" }, "Other nodes shown"), slider, count);
  const note =
    "Lines are as wide as the shares beside them, those under 1 % thin; a dotted line passes through nodes that are " +
    `not shown. Marks show the predicted class; a minus sign speaks for ${classSaid(node.second)}. ` +
    "Circled: training nodes. Overlapping names are hidden; the list has all of them.";
  return section(
    "Nodes that contribute most",
    control,
    element("div", { class: "pair" }, element("div", {}, picture, element("p", { class: "note" }, note)), list),
  );
}

function neighbourBars(node, shown, gone, update) {
  const named = node.neighbours.slice(0, shown).map((other) => {
    const value = gone.neighbours.has(other.id) ? 0 : other.value;
    const box = tick("neighbours", other.id, shortName(other), gone, update);
    const through = other.features.length ? element("small", {}, `by ${other.features.join(", ")}`) : null;
    const taken = other.believed === null ? null : element("small", {}, "taken for ", classLabel(other.believed));
    return { name: element("span", {}, box, nodeName(other), taken, through), value, id: other.id };
  });
  const others = node.neighbours.slice(shown).reduce((sum, other) => sum + other.value, node.rest);
  const title = `Share of what tells ${classSaid(node.predicted)} (to the right) from ${classSaid(node.second)} (to the left)`;
  const itself = { name: "the node itself", value: node.itself };
  return bars(title, withRest(node, [itself, ...named], "all other nodes", others), node.whole);
}

const withRest = (node, named, name, rest) => [
  ...named,
  { name, value: rest, quiet: true },
  { name: "the model's general leaning", value: node.bias, quiet: true },
];

const WALKS = "by walk length in hops (a step may stay at the same node)";
const READ = "by what a group of capsules reads";
const WHOSE = "by features of all contributing nodes, not only this one";

function splits(node) {
  const pairs = (parts) => parts.map(([name, value]) => ({ name, value }));
  const bias = { name: "bias", value: node.bias };
  const groups = node.groups?.map(([group, value]) => ({
    name: element("span", {}, group, element("small", {}, groupWords(group))),
    value,
  }));
  const hopName = (hop) => (hop === "0" ? "hop 0, the node itself" : /^\d+$/.test(hop) ? `hop ${hop}` : hop);
  const hops = node.hops?.map(([hop, value]) => ({ name: hopName(hop), value }));
  const capsules = node.capsules.map((value, k) => ({ name: `capsule ${report.capsules[k]}`, value }));
  const features = withRest(node, pairs(node.features.largest), "all other features", node.features.rest);
  features.push({ name: "bias of the capsules", value: node.features.bias, quiet: true });
  const caption = `Share of what tells ${classSaid(node.predicted)} from ${classSaid(node.second)}`;
  return [
    groups && section("By group", bars(`${caption}, ${READ}`, [...groups, bias], node.whole)),
    hops && section("By hop", bars(`${caption}, ${WALKS}`, [...hops, bias], node.whole)),
    section("By capsule", bars(caption, [...capsules, bias], node.whole)),
    section("By feature", bars(`${caption}, ${WHOSE}`, features, node.whole)),
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
  return section(title, bars(`${counted} ${among}`, parts, node.whole));
}

/** What can be said of a node that is not explained here. */
function unexplained(id) {
  const row = rowOf.get(id);
  const back = element("p", {}, element("a", { href: "#" }, "← All nodes"));
  const title = element("h1", { tabindex: "-1" }, row === undefined ? "No such node" : `Node ${fullName(known(row))}`);
  if (row === undefined) return [back, title, element("p", {}, `This page knows no node ${id}.`)];
  const reason = isServed
    ? "The server does not respond."
    : "This file contains explanations of selected nodes only, and this node is not one of them. " +
      `To explain it: ncgnn explain MODEL GRAPH --page page.html --node ${id}`;
  return [back, title, verdict(known(row)), element("p", {}, reason)];
}
