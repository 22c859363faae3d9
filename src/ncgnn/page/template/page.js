// Which view is shown: the part of the address after # says so.

const panes = { overview: document.getElementById("overview"), node: document.getElementById("node") };

/** The node that the address names, or null. */
function wantedNode() {
  const text = location.hash.startsWith("#node=") ? location.hash.slice(6) : null;
  try {
    return text === null ? null : decodeURIComponent(text);
  } catch {
    return text; // a stray % that stands for itself
  }
}

async function show(map) {
  const id = wantedNode();
  if (id === null) return reveal("overview", `${report.name}: predictions and their reasons`, map);
  const node = await loadNode(id);
  if (id !== wantedNode()) return; // someone went on meanwhile
  const content = element("div", {}, ...(node ? nodeView(node) : unexplained(id)));
  panes.node.replaceChildren(content);
  reveal("node", `Node ${node ? fullName(node) : id} · ${report.name}`, map);
}

function reveal(name, title, map) {
  for (const [key, view] of Object.entries(panes)) view.hidden = key !== name;
  document.title = title;
  window.scrollTo(0, 0);
  if (name === "overview") map.draw();
}

function start() {
  const map = makeMap();
  panes.overview.append(...overview(map));
  document.getElementById("probabilities").textContent = report.probabilities;
  startSearch(map);
  window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => (one.open = true)));
  window.addEventListener("hashchange", async () => {
    await show(map);
    document.querySelector("main:not([hidden]) h1")?.focus({ preventScroll: true });
  });
  show(map);
}

start();
