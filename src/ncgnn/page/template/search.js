// Finding a node by its id or title; what is found is marked on the map too.

const LISTED = 8;

function startSearch(map) {
  const parts = ["search", "query", "found", "results"].map((id) => document.getElementById(id));
  const [form, query, found, results] = parts;
  let asked = 0; // what was asked last; an answer to anything before comes too late
  const clear = () => {
    asked += 1;
    results.hidden = true;
    found.textContent = "";
    highlight([]);
  };
  const highlight = (nodes) => {
    map.found = new Set(nodes.map((node) => rowOf.get(node.id)).filter((row) => row < report.places.length));
    map.draw();
  };
  query.addEventListener("input", async () => {
    const text = query.value.trim();
    if (!text) return clear();
    const question = (asked += 1);
    const answer = await find(text);
    if (question !== asked) return;
    const { total, nodes } = answer ?? { total: 0, nodes: [] };
    found.textContent = total ? `${grouped(total)} found` : answer ? "none found" : "the server does not answer";
    results.replaceChildren(...nodes.map((node) => element("li", {}, nodeName(node))));
    results.hidden = !total;
    highlight(nodes);
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const text = query.value.trim();
    if (text) location.hash = linkTo((await find(text))?.nodes[0]?.id ?? text);
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") clear();
  });
  window.addEventListener("hashchange", () => {
    query.value = "";
    clear();
  });
}

/** How many nodes have an id or title that holds the text, and the first of them: ids before titles, those that are it
 * or begin with it before others. A server knows all nodes, a page those of its tables; null: the server is gone. */
async function find(text) {
  if (isServed) return fetchFound(text);
  const rows = matches(text);
  return { total: rows.length, nodes: rows.slice(0, LISTED).map(known) };
}

async function fetchFound(text) {
  const address = `api/nodes?search=${encodeURIComponent(text)}&limit=${LISTED}`;
  const answer = await fetch(address).catch(() => null);
  return answer?.ok ? answer.json() : null;
}

function matches(text) {
  const wanted = text.toLowerCase();
  const fits = (name) => [name === wanted, name.startsWith(wanted), name.includes(wanted)];
  const rank = (...names) => names.flatMap((name) => fits((name ?? "").toLowerCase())).indexOf(true);
  const { id, title } = report.nodes;
  const ranked = id.map((_, row) => [rank(id[row], title?.[row]), row]).filter(([rank]) => rank >= 0);
  return ranked.sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, row]) => row);
}
