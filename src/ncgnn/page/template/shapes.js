// A class has a colour and a shape, so that colour is never alone. Seven colours and six shapes make 42 pairs; each
// class has its own pair as far as they go.

const COLOURS = 7;
const SHAPES = [
  "M1 0A1 1 0 1 1-1 0A1 1 0 1 1 1 0Z", // disc
  "M-.88-.88H.88V.88H-.88Z", // square
  "M0-1.2L1.1.8H-1.1Z", // triangle
  "M0-1.25L1.25 0L0 1.25L-1.25 0Z", // diamond
  "M0 1.2L1.1-.8H-1.1Z", // triangle on its tip
  "M-.4-1.15H.4V-.4H1.15V.4H.4V1.15H-.4V.4H-1.15V-.4H-.4Z", // cross
];

const shapeOf = (number) => SHAPES[number % SHAPES.length];
const colourName = (number) => `--class-${number % COLOURS}`;
const classNumber = (name) => report.classes.indexOf(name);

/** The mark of a class in a drawing. */
function mark(name, size, x = 0, y = 0) {
  const number = classNumber(name);
  const place = `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${size.toFixed(2)})`;
  return drawn("path", { d: shapeOf(number), transform: place, fill: `var(${colourName(number)})`, class: "mark" });
}

/** The same beside a word. */
function swatch(name) {
  return drawn("svg", { class: "swatch", viewBox: "-8 -8 16 16", "aria-hidden": "true" }, mark(name, 6));
}

const classLabel = (name) => element("span", { class: "class" }, swatch(name), name);
