// Finding a node by its id; what is found is marked on the map too.

const LISTED = 8;

function startSearch(map) {
  const parts = ["search", "query", "found", "results"].map((id) => document.getElementById(id));
  const [form, query, found, results] = parts;
  const clear = () => {
    results.hidden = true;
    found.textContent = "";
    highlight([]);
  };
  const highlight = (rows) => {
    map.found = new Set(rows.filter((row) => row < report.places.length));
    map.draw();
  };
  query.addEventListener("input", () => {
    const rows = matches(query.value.trim());
    if (!query.value.trim()) return clear();
    found.textContent = rows.length ? `${grouped(rows.length)} found` : isServed ? "Enter: ask for it" : "none found";
    results.replaceChildren(...rows.slice(0, LISTED).map((row) => element("li", {}, nodeName(known(row)))));
    results.hidden = !rows.length;
    highlight(rows.slice(0, LISTED));
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = query.value.trim();
    if (text) location.hash = linkTo(report.nodes.id[matches(text)[0]] ?? text);
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") clear();
  });
  window.addEventListener("hashchange", () => {
    query.value = "";
    clear();
  });
}

/** Rows whose id holds the text; those that are it or begin with it come first. */
function matches(text) {
  const wanted = text.toLowerCase();
  const rank = (id) => (id === wanted ? 0 : id.startsWith(wanted) ? 1 : id.includes(wanted) ? 2 : 3);
  const ranked = report.nodes.id.map((id, row) => [rank(id.toLowerCase()), row]).filter(([rank]) => rank < 3);
  return ranked.sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, row]) => row);
}
