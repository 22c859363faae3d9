// Elements out of data. Strings become text and nothing else, whatever characters they hold.

function element(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children);
}

function drawn(tag, properties = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);
}

function filled(made, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const section = (title, ...children) => element("section", { class: "card" }, element("h2", {}, title), ...children);

/** A part of the page that scrolls sideways by itself, also with the arrow keys. */
const scrolled = (label, child) =>
  element("div", { class: "scrolled", tabindex: "0", role: "region", "aria-label": label }, child);

const shortened = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
