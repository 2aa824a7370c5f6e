// Says what is known about a node, an edge or a pair, and handles the pointer, the search and the size of the window.

// ---- What a click says --------------------------------------------------------------------------------------------
const extra = i => i < n ? names[i] : data.others[i - n];
const sign = e => names[from[e]] + " " + kinds[kind[e]].sign + " " + names[to[e]];
const words = e => kinds[kind[e]].words.split("{a}").join(names[from[e]]).split("{b}").join(names[to[e]]);
const facts = e => values.filter(v => v.numbers[e] !== null).map(v => v.says + " = " + brief(v.numbers[e]));
// The separating set of a pair without an edge, from data.sets: null (none), p, or [p, members]; p is -1 if unknown.
function setOf(a, b) {
  const low = Math.min(a, b), high = Math.max(a, b);
  const entry = data.sets ? data.sets[high * (high - 1) / 2 + low] : null;
  if (entry === null) return { known: false, set: [], p: null };
  const [p, ...set] = [].concat(entry);
  return { known: true, set, p: p < 0 ? null : p };
}
function add(parent, tag, text, kindOf) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (kindOf) made.className = kindOf;
  parent.append(made);
  return made;
}
function link(parent, i) {
  if (i >= n) return add(parent, "span", extra(i));
  const made = add(parent, "button", names[i], "link");
  made.type = "button";
  made.onclick = () => select(i);
  return made;
}
function describeEdge(e, title) {
  add(panel, title, sign(e));
  add(panel, "p", words(e));
  values.forEach(v => {
    if (v.numbers[e] === null) return;
    const row = add(panel, "p", v.says + " = " + brief(v.numbers[e]) + " ");
    add(row, "small", v.hint);
  });
  if (values.some(v => v.name === "p" && v.numbers[e] === null)) add(panel, "p", "This edge was not tested.", "faint");
}
function describePair(a, b) {
  const edge = edgesOf[a].find(e => other(e, a) === b);
  if (edge !== undefined) return describeEdge(edge, "h3");
  add(panel, "h3", names[a] + " and " + names[b]);
  const found = setOf(a, b), row = add(panel, "p", "No edge. ");
  if (found.known) {
    row.append("Independent given ");
    if (!found.set.length) row.append("no other variable");
    found.set.forEach((i, k) => { if (k) row.append(", "); link(row, i); });
    row.append(found.p === null ? "." : " (p = " + brief(found.p) + ").");
  } else if (data.no_sets) add(panel, "p", data.no_sets, "faint");
  else if (data.sets) add(panel, "p", "No test separated this pair.", "faint");
}
function describe() {
  panel.textContent = "";
  panel.hidden = chosen === null && chosenEdge === null;
  if (panel.hidden) return;
  const close = add(panel, "button", "\u00d7");
  close.id = "close"; close.type = "button"; close.title = "Close (Esc)";
  close.onclick = () => clear();
  if (chosenEdge !== null) return describeEdge(chosenEdge, "h2");
  add(panel, "h2", names[chosen]);
  if (data.said) add(panel, "p", data.said[chosen]);
  // With a second node, the answer about the two comes first.
  if (before !== null) describePair(before, chosen);
  const groups = new Map();
  let hidden = 0;
  edgesOf[chosen].forEach(e => {
    if (!shown[e]) { hidden++; return; }
    const head = kinds[kind[e]].roles[from[e] === chosen ? 1 : 0];
    if (!groups.has(head)) groups.set(head, []);
    groups.get(head).push(e);
  });
  kinds.forEach(k => k.roles.forEach(head => {
    if (!groups.has(head)) return;
    const list = groups.get(head);
    groups.delete(head);
    add(panel, "h3", head + " (" + list.length + ")");
    const items = add(panel, "ul");
    list.forEach(e => {
      const row = add(items, "li"), tail = facts(e).join(", ");
      link(row, other(e, chosen));
      if (tail) add(row, "small", "  " + tail);
    });
  }));
  if (!edgesOf[chosen].length) add(panel, "p", "It has no edge.");
  if (hidden) add(panel, "p", hidden + (hidden === 1 ? " edge is" : " edges are") + " hidden by the filters.", "faint");
  if (before === null && n > 1) add(panel, "p", data.sets ?
    "Click a second node to see its edge to this one, or the set that separates the two." :
    "Click a second node to see its edge to this one.", "faint");
}
function clear() { chosen = before = chosenEdge = null; describe(); resize(true); redraw(); }
function select(i) {
  before = chosen !== null && chosen !== i ? chosen : null;
  chosen = i;
  chosenEdge = null;
  describe();
  resize(true);
  project();
  // The panel, or a search, may leave the node outside the window.
  centre[0] += (X[i] - Math.max(40, Math.min(X[i], W - 40))) / scale;
  centre[1] += (Y[i] - Math.max(40, Math.min(Y[i], H - 40))) / scale;
  redraw();
}
function selectEdge(e) { chosen = before = null; chosenEdge = e; describe(); resize(true); redraw(); }

// ---- Pointer, search, window --------------------------------------------------------------------------------------
function nodeAt(px, py, slack) {
  let best = null, least = Infinity;
  for (let i = 0; i < n; i++) {
    const dx = Math.abs(px - X[i]), dy = Math.abs(py - Y[i]);
    let away;
    if (boxed()) {
      const [a, b] = halfBox(i);
      away = Math.max(dx - a * scale, dy - b * scale);
    } else away = Math.hypot(dx, dy) - radius(i);
    if (away < least) { least = away; best = i; }
  }
  return least <= slack ? best : null;
}
function edgeAt(px, py, slack) {
  let best = null, least = slack;
  for (let e = 0; e < m; e++) {
    if (!shown[e]) continue;
    const points = alongOf(e);
    for (let k = 1; k < points.length; k++) {
      const [ax, ay] = points[k - 1], dx = points[k][0] - ax, dy = points[k][1] - ay;
      const t = Math.max(0, Math.min(1, ((px - ax) * dx + (py - ay) * dy) / (dx * dx + dy * dy || 1)));
      const away = Math.hypot(px - ax - t * dx, py - ay - t * dy);
      if (away < least) { least = away; best = e; }
    }
  }
  return best;
}
const where = event => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
const pointers = new Map();
let grabbed = null, travelled = 0;
canvas.onpointerdown = event => {
  canvas.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, where(event));
  travelled = pointers.size > 1 ? 99 : 0;
  grabbed = pointers.size === 1 ? nodeAt(...where(event), event.pointerType === "touch" ? 10 : 3) : null;
  tip.style.display = "none";
};
canvas.onpointermove = event => {
  const [px, py] = where(event);
  if (!pointers.has(event.pointerId)) return hover(px, py);
  const [ox, oy] = pointers.get(event.pointerId);
  travelled += Math.hypot(px - ox, py - oy);
  if (travelled < 5) return;
  pointers.set(event.pointerId, [px, py]);
  if (pointers.size === 2) {
    const [p, q] = Array.from(pointers.values()), o = event.pointerId === Array.from(pointers.keys())[0] ? q : p;
    zoom(Math.hypot(px - o[0], py - o[1]) / Math.max(Math.hypot(ox - o[0], oy - o[1]), 1), (px + o[0]) / 2, (py + o[1]) / 2);
  } else if (grabbed !== null) {
    x[grabbed] += (px - ox) / scale / stretch[0];
    y[grabbed] += (py - oy) / scale / stretch[1];
    ownPlaces = moved = true;
  } else {
    centre[0] -= (px - ox) / scale;
    centre[1] -= (py - oy) / scale;
    moved = true;
  }
  redraw();
};
canvas.onpointerup = canvas.onpointercancel = event => {
  const single = pointers.size === 1;
  pointers.delete(event.pointerId);
  if (event.type === "pointercancel" || !single || travelled >= 5) return;
  const [px, py] = where(event), touch = event.pointerType === "touch";
  const node = nodeAt(px, py, touch ? 10 : 3), edge = node === null ? edgeAt(px, py, touch ? 14 : 6) : null;
  if (node !== null) select(node); else if (edge !== null) selectEdge(edge); else clear();
};
function hover(px, py) {
  const node = nodeAt(px, py, 3), edge = node === null ? edgeAt(px, py, 5) : null;
  canvas.style.cursor = node !== null || edge !== null ? "pointer" : "grab";
  const text = node !== null ? [names[node]].concat(data.said ? [data.said[node]] : []) :
    edge !== null ? [sign(edge), kinds[kind[edge]].said].concat(facts(edge)) : null;
  tip.style.display = text ? "block" : "none";
  if (!text) return;
  tip.textContent = text.join("\n");
  tip.style.left = Math.max(0, Math.min(px + 14, W - tip.offsetWidth - 2)) + "px";
  tip.style.top = (py + 18 + tip.offsetHeight > H ? py - tip.offsetHeight - 8 : py + 18) + "px";
}
canvas.onpointerleave = () => { tip.style.display = "none"; };
canvas.addEventListener("wheel", event => {
  event.preventDefault();
  const lines = event.deltaMode === 1 ? 20 : 1;
  zoom(Math.exp(-Math.max(-120, Math.min(120, event.deltaY * lines)) * 0.002), ...where(event));
}, { passive: false });
document.addEventListener("keydown", event => { if (event.key === "Escape") clear(); });
document.getElementById("whole").onclick = () => { fit(); redraw(); };

const find = document.getElementById("find"), lower = names.map(name => name.toLowerCase());
const options = document.createDocumentFragment();
names.forEach(name => { add(options, "option").value = name; });
document.getElementById("found").append(options);
function search() {
  const typed = find.value.trim().toLowerCase();
  find.classList.remove("wrong");
  if (!typed) return clear();
  let i = lower.indexOf(typed);
  if (i < 0) i = lower.findIndex(name => name.startsWith(typed));
  if (i < 0) i = lower.findIndex(name => name.includes(typed));
  find.classList.toggle("wrong", i < 0);
  if (i < 0) return;
  chosen = null;
  if (n > 60) {
    scale = Math.max(scale, Math.min(fitted * 4, 24));
    centre = [x[i] * stretch[0], y[i] * stretch[1]];
    moved = true;
  }
  select(i);
}
find.onchange = search;

// `still`: the picture stays where it is, because only the panel opens or closes.
function resize(still) {
  const ratio = window.devicePixelRatio || 1, w = space.clientWidth, h = space.clientHeight;
  if (w === W && h === H && canvas.width === Math.round(w * ratio)) return;
  if (still === true) { centre[0] += (w - W) / 2 / scale; centre[1] += (h - H) / 2 / scale; }
  W = w; H = h;
  canvas.width = Math.round(W * ratio); canvas.height = Math.round(H * ratio);
  canvas.style.width = W + "px"; canvas.style.height = H + "px";
  if (!moved && still !== true) fit();
  draw();
}
new ResizeObserver(() => resize()).observe(space);
apply();
resize();
// For tests and scripts: where a node is on the screen, and what is shown.
window.pcgpu = {
  at: name => { const i = names.indexOf(name), box = canvas.getBoundingClientRect(); return [X[i] + box.left, Y[i] + box.top]; },
  state: () => ({ nodes: n, edges: shown.reduce((a, b) => a + b, 0), boxes: boxed(), labels: boxed() ? n : labelled,
    chosen: chosen === null ? null : names[chosen], faded: faded.reduce((a, b) => a + b, 0) })
};
