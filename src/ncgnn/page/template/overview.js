// The first view: the model as a whole, and all nodes at once.

function overview(map) {
  return [
    element("h1", { tabindex: "-1" }, `${report.name}: predictions and their reasons`),
    figures(),
    ...(report.asked.length ? [section("Explained nodes", nodeTable("Explained nodes", report.asked))] : []),
    report.audit ? section("How far to trust the reasons", element("p", {}, report.audit)) : null,
    section("All nodes", legend(map), groupLegend(map), map.box, hint(`${report.choice} ${MAP_NOTE}`)),
    element("div", { class: "grid" }, ...lists(), ...groupLists()),
    element("details", {}, element("summary", {}, "Details"), element("div", { class: "columns" }, ...ofTheModel())),
  ].filter(Boolean);
}

const MAP_NOTE =
  "Nearby nodes look alike to the model (t-SNE of what it computes for all classes). The mark is the known label, or " +
  "the prediction where there is none; ringed: predicted as another class than the label.";

const hint = (text) => element("p", { class: "note" }, text);

/** The numbers at the top. */
function figures() {
  const { size, trained } = report;
  const shown = [
    accuracy(),
    [grouped(size.nodes), "nodes"],
    [grouped(size.edges), "edges"],
    [grouped(size.features), "features"],
    [grouped(report.classes.length), "classes"],
  ];
  if (trained !== null) shown.push([grouped(trained), "training nodes"]);
  const tiles = shown.map(([value, name]) => element("div", {}, element("dt", {}, name), element("dd", {}, value)));
  return element("dl", { class: "facts" }, ...tiles);
}

function accuracy() {
  const { quality, measured } = report;
  if (quality) return [percent(quality.accuracy, 1), `accuracy on ${grouped(quality.judged)} ${quality.nodes}`];
  if (!measured) return ["unknown", "accuracy: no labels to compare with"];
  return [percent(measured.accuracy, 1), `accuracy on ${grouped(measured.nodes)} test nodes, before training on all labels`];
}

function lists() {
  const nearest = hint("Smallest margin between the two most likely classes.");
  const doubtful = report.doubtful.length
    ? [section("Most doubtful", nearest, nodeTable("Most doubtful", report.doubtful))]
    : [];
  const first = hint(`${grouped(report.left)} without a label, the least sure first. Find any of them by its id.`);
  const asked = report.left ? [section("To be predicted", first, nodeTable("To be predicted", report.unlabelled))] : [];
  if (!report.surprising.length) return [...asked, ...doubtful];
  const sure = hint("Most confident predictions that differ from the label.");
  return [...asked, ...doubtful, section("Most surprising", sure, nodeTable("Most surprising", report.surprising))];
}

/** For each group of capsules, the nodes that are recognised by it most. */
function groupLists() {
  return (report.groups ?? [])
    .filter((group) => group.nodes.length)
    .map(({ name, words, nodes, main }) => {
      const count = hint(`Largest share of ${name}. It is the main group of ${grouped(main)} nodes.`);
      return section(`Recognised by ${words}`, count, nodeTable(`Recognised by ${words}`, nodes));
    });
}

function groupBars() {
  const parts = report.groups.map(({ name, words, share, main }) => ({
    name: element("span", {}, name, element("small", {}, `${words}; main group of ${grouped(main)} nodes`)),
    value: share,
  }));
  return bars("Mean share of what tells the predicted class from the runner-up", parts, 1);
}

function ofTheModel() {
  const { quality } = report;
  const counted = quality && hint(`${grouped(quality.judged)} ${quality.nodes}, by label and prediction.`);
  return [
    quality && section("Confusion", counted, confusion(quality)),
    quality && section("Calibration", reliability(quality)),
    report.groups && section("Groups", groupBars()),
    section("Hops", hopBars()),
    section("Couplings", hint(`${report.routing} In the table: means over all nodes.`), couplings()),
  ];
}
