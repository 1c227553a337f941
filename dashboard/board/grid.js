// Draws the board: a table with a column per release and a row per question. All text is set as text, never as markup.
const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 160;
const HEIGHT = 30;
const SCALE_HEIGHT = 24;
const LETTER = 4.7;
const LEAST_LETTERS = 6;

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "text") made.textContent = value;
    else if (name === "onclick") made.addEventListener("click", value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter(Boolean));
  return made;
}

function shape(tag, properties = {}, title = "") {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(properties)) made.setAttribute(name, value);
  if (title) {
    const hint = document.createElementNS(SVG, "title");
    hint.textContent = title;
    made.append(hint);
  }
  return made;
}

function picture(alt, ...children) {
  return framed(alt, HEIGHT, children);
}

function framed(alt, height, children) {
  const made = shape("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": alt, class: "picture" });
  made.append(...children.filter(Boolean));
  return made;
}

function symbol(column) {
  const made = shape("svg", { viewBox: "-8 -8 16 16", width: 16, height: 16, "aria-hidden": "true" });
  const look = { fill: column.color, stroke: column.outline, "stroke-width": 1.2 };
  if (column.corners) made.append(shape("polygon", { points: column.corners, ...look }));
  else made.append(shape("circle", { r: 6, ...look }));
  return made;
}

const base = () => shape("line", { x1: 0, x2: WIDTH, y1: HEIGHT - 10.5, y2: HEIGHT - 10.5, class: "axis" });

function label(x, text, anchor = "middle", y = HEIGHT - 1) {
  const made = shape("text", { x, y, "text-anchor": anchor, class: "tick" });
  made.textContent = text;
  return made;
}

// Share of the people by the size of their group; the mark is the k that was asked for.
function sizes(cell, column, axis, people) {
  const step = WIDTH / Math.max(axis.bins.length, 1);
  const tallest = Math.max(...cell.bars, 0.01);
  const drawn = cell.bars.map((share, place) => {
    if (share <= 0 || place < axis.first) return null;
    const height = Math.max((share / tallest) * (HEIGHT - 16), 1.5);
    const x = (place - axis.first) * step + 1;
    const look = { x, y: HEIGHT - 11 - height, width: Math.max(step - 2, 1), height };
    return shape("rect", { ...look, fill: column.color, stroke: column.outline, "stroke-width": 0.5 },
      `${axis.bins[place - axis.first]}: ${(100 * share).toFixed(1)}% of the ${people}`);
  });
  const marks = [];
  if (axis.line !== null && axis.line !== undefined) {
    const x = (axis.line - axis.first) * step;
    marks.push(shape("line", { x1: x, x2: x, y1: 0, y2: HEIGHT - 10, class: "limit" }, "k that was asked for"));
  }
  const ticks = axis.ticks.map(([place, text]) => label((place - axis.first + 0.5) * step, text));
  return picture(cell.alt, base(), ...drawn, ...marks, ...ticks);
}

// Distances of all groups, sorted by people; the mark is the t that was asked for.
function curve(cell, column, axis) {
  const at = (value) => HEIGHT - 11 - (Math.min(value, axis.most) / axis.most) * (HEIGHT - 15);
  const points = cell.curve.map((value, place) => `${(place / (cell.curve.length - 1)) * WIDTH},${at(value)}`);
  const area = shape("polygon", {
    points: `0,${HEIGHT - 11} ${points.join(" ")} ${WIDTH},${HEIGHT - 11}`, fill: column.color, "fill-opacity": 0.25,
  });
  const line = shape("polyline", { points: points.join(" "), fill: "none", stroke: column.color, "stroke-width": 2 });
  const marks = [];
  if (axis.line !== null && axis.line !== undefined) {
    marks.push(shape("line", { x1: 0, x2: WIDTH, y1: at(axis.line), y2: at(axis.line), class: "limit" }, "t that was asked for"));
  }
  return picture(cell.alt, base(), area, line, ...marks,
    label(0, "closest group", "start"), label(WIDTH, "farthest group", "end"));
}

// The loss of every attribute, paler where it is only known that it is no more.
function bars(cell, column, axis) {
  const step = WIDTH / Math.max(cell.bars.length, 1);
  const isBound = cell.state === "bound";
  const drawn = cell.bars.map((value, place) => {
    const height = Math.max((value / axis.most) * (HEIGHT - 16), value > 0 ? 1 : 0);
    return shape("rect", {
      x: place * step + 1, y: HEIGHT - 11 - height, width: Math.max(step - 2, 1), height,
      fill: column.color, "fill-opacity": isBound ? 0.35 : 1, stroke: column.outline, "stroke-width": 0.5,
    }, `${cell.names[place]}: ${isBound ? "at most " : ""}${(100 * value).toFixed(1)}%`);
  });
  // A name stands below its bar where that has room for most of it, else all stand in one line, the worst first.
  const room = Math.floor(step / LETTER);
  const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
  const names = room < LEAST_LETTERS
    ? [label(0, cut(cell.names.join(", "), Math.floor(WIDTH / LETTER)), "start")]
    : cell.names.map((name, place) => label(place * step + 1, cut(name, room), "start"));
  return picture(cell.alt, base(), ...drawn, ...names);
}

// One number beside what guessing or chance gets, with a bar from there, and its interval where it is estimated.
function scale(cell, column, axis) {
  const at = (value) => 4 + (Math.min(Math.max(value, 0), axis.most) / axis.most) * (WIDTH - 8);
  const y = 9;
  const parts = [shape("line", { x1: 4, x2: WIDTH - 4, y1: y, y2: y, class: "axis" })];
  for (const [value, text] of cell.marks) {
    parts.push(shape("line", { x1: at(value), x2: at(value), y1: y - 8, y2: y + 8, class: "mark" }, text));
  }
  if (cell.from !== undefined) {
    parts.push(shape("line", {
      x1: at(cell.from), x2: at(cell.value), y1: y, y2: y, stroke: column.color, "stroke-width": 3,
    }, "what lies above chance"));
  }
  if (cell.interval) {
    parts.push(shape("line", {
      x1: at(cell.interval[0]), x2: at(cell.interval[1]), y1: y, y2: y, stroke: column.color, "stroke-width": 7,
      "stroke-opacity": 0.35,
    }, "where the exact number lies with 95% confidence"));
  }
  parts.push(shape("circle", { cx: at(cell.value), cy: y, r: 5, fill: column.color, stroke: column.outline }));
  return framed(cell.alt, SCALE_HEIGHT, [
    ...parts, label(0, axis.low, "start", SCALE_HEIGHT - 1), label(WIDTH, axis.high, "end", SCALE_HEIGHT - 1),
  ]);
}

// The number of a cell over the values of a level: a click on a point chooses its value.
function over(cell, column, axis, people, send) {
  const step = (WIDTH - 12) / Math.max(axis.values.length - 1, 1);
  const x = (place) => 6 + place * step;
  const high = axis.log ? Math.log10(Math.max(axis.most, 1) + 1) : axis.most;
  const y = (value) => HEIGHT - 11 - ((axis.log ? Math.log10(value + 1) : value) / high) * (HEIGHT - 16);
  const parts = [base()];
  if (axis.now !== null && axis.now !== undefined) {
    parts.push(shape("line", { x1: x(axis.now), x2: x(axis.now), y1: 0, y2: HEIGHT - 10, class: "limit" }, "as it is now"));
  }
  const known = cell.line.map((value, place) => [value, place]).filter(([value]) => value !== null);
  parts.push(shape("polyline", {
    points: known.map(([value, place]) => `${x(place)},${y(value)}`).join(" "), fill: "none", stroke: column.color, "stroke-width": 1.6,
  }));
  for (const [value, place] of known) {
    const said = `${axis.texts[place]}: ${Number(value.toPrecision(3))}`;
    const point = shape("circle", {
      cx: x(place), cy: y(value), r: place === axis.now ? 4 : 2.8, fill: column.color, stroke: column.outline,
      tabindex: 0, role: "button", "aria-label": `Choose ${said}`, class: "point",
    }, said);
    const choose = () => send({ type: "level", axis: axis.over, value: axis.values[place] });
    point.addEventListener("click", choose);
    point.addEventListener("keydown", (event) => { if (event.key === "Enter") choose(); });
    parts.push(point);
    if (place === cell.ring) {
      parts.push(shape("circle", { cx: x(place), cy: y(value), r: 6.5, fill: "none", stroke: column.color, "stroke-width": 1.6 },
        "distance and loss together are least here"));
    }
  }
  const drawn = picture(cell.alt, ...parts, label(0, axis.low, "start"), label(WIDTH, axis.high, "end"));
  // Its points are buttons, which a picture may not have.
  drawn.setAttribute("role", "group");
  return drawn;
}

const PICTURES = { sizes, curve, bars, scale, over };
const SIGNS = { promised: "•", kept: "✓", met: "✓", measured: "✓", missed: "✗", unknown: "?" };

// A button holds no list, so that its lines are those of its label.
function promise(cell, row, column, send) {
  const said = cell.promises.map((mark) => `${mark.symbol} ${mark.words}`).join("; ");
  const marks = element("button", {
    class: "marks", type: "button", "data-key": `${row.id}-${column.id}`,
    "aria-label": `${row.label}, ${column.title}: ${said}. ${row.opens}`,
    onclick: () => open(row, column, send),
  });
  for (const mark of cell.promises) {
    marks.append(element("span", { class: `mark ${mark.state}`, title: `${mark.sentence} ${row.opens}` },
      element("span", { class: "sign", "aria-hidden": "true", text: SIGNS[mark.state] }),
      element("span", { text: `${mark.symbol} ${mark.words}` })));
  }
  return marks;
}

// The page that a cell opens has the cell in its address. What the address says already is no entry of the history of
// its own, so that one step back leads from that page to the board.
function open(row, column, send) {
  if (row.isPage) {
    const now = new URLSearchParams(window.location.search);
    const kept = ["workspace", "step"].filter((name) => now.has(name)).map((name) => [name, now.get(name)]);
    const asked = new URLSearchParams([...kept, ["column", column.id], ["cell", row.id]]);
    window.history.replaceState(window.history.state, "", `${window.location.pathname}?${asked}`);
  }
  send({ type: "open", row: row.id, column: column.id });
}

function cellOf(row, cell, column, people, send) {
  const place = element("td", { class: `cell ${cell.state} ${row.kind} ${row.id}${column.isBest ? " best" : ""}` });
  if (cell.state === "failed") {
    place.append(element("p", { class: "why", text: cell.why }));
    return place;
  }
  if (cell.state === "pending") {
    place.append(element("p", { class: "waiting", text: cell.why || "being computed …" }));
    return place;
  }
  if (cell.promises && cell.promises.length) place.append(promise(cell, row, column, send));
  if (cell.text) {
    place.append(element("button", {
      class: "number", type: "button", "data-key": `${row.id}-${column.id}`,
      "aria-label": `${row.label}, ${column.title}: ${cell.text}. ${row.opens}`,
      title: row.opens, onclick: () => open(row, column, send), text: cell.text,
    }));
  }
  if (cell.beside) place.append(" ", element("span", { class: "beside", text: cell.beside }));
  if (cell.sub) place.append(element("span", { class: "sub", text: cell.sub, title: [cell.full || cell.sub, cell.hover].filter(Boolean).join(". ") }));
  if (PICTURES[row.kind] && cell.drawn !== false) place.append(PICTURES[row.kind](cell, column, row.axis, people, send));
  return place;
}

function headOf(column, send) {
  const key = (name) => `${name}-${column.id}`;
  return element("th", { scope: "col", class: column.isBest ? "column best" : "column" },
    element("div", { class: "name" },
      symbol(column),
      element("button", {
        class: "method", type: "button", "data-key": key("edit"), text: `${column.title} ▾`,
        title: `${column.edit[0].toUpperCase()}${column.edit.slice(1)}`, "aria-label": `${column.title}: ${column.edit}`,
        onclick: () => send({ type: "edit", column: column.id }),
      }),
      element("button", {
        class: "close", type: "button", "data-key": key("remove"), text: "×", title: "Remove this release",
        "aria-label": `Remove the release ${column.title}`, onclick: () => send({ type: "remove", column: column.id }),
      })),
    element("div", { class: "own", text: column.own, title: column.own }),
    column.isBest && element("div", { class: "publish", text: "Publish this one" }),
    element("div", { class: `badge ${column.tone}`, text: column.badge, title: column.verdict }),
    column.policy && element("div", { class: `policy ${column.policy.tone}`, text: column.policy.text, title: column.policy.all }));
}

function draw(data, send) {
  const add = data.canAdd && element("button", {
    class: "more", type: "button", "data-key": "add", text: "+ add release", onclick: () => send({ type: "add" }),
  });
  const head = element("tr", {}, element("th", { class: "corner", scope: "col" },
    element("span", { class: "hidden", text: "Question" }), add), ...data.columns.map((column) => headOf(column, send)));
  const body = element("tbody");
  for (const row of data.rows) {
    const line = element("tr", {}, element("th", { scope: "row", class: "question", title: row.meaning },
      element("span", { class: "label", text: row.label }), element("span", { class: "help", text: row.help }),
      element("span", { class: "hidden", text: row.meaning })));
    row.cells.forEach((cell, place) => line.append(cellOf(row, cell, data.columns[place], data.people, send)));
    body.append(line);
  }
  return element("table", { class: "board" }, element("caption", { class: "hidden", text: data.caption }),
    element("thead", {}, head), body);
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const place = parentElement.querySelector(".place");
  const text = JSON.stringify(data);
  if (place.dataset.shown === text) return;
  const active = parentElement.activeElement;
  const held = active && active.dataset ? active.dataset.key : null;
  const left = place.scrollLeft;
  place.dataset.shown = text;
  place.replaceChildren(draw(data, (event) => setTriggerValue("event", event)));
  place.scrollLeft = left;
  if (held) {
    const again = place.querySelector(`[data-key="${held}"]`);
    if (again) again.focus({ preventScroll: true });
  }
}
