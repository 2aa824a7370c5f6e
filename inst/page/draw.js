// Reads the data, places the nodes in the window, filters the edges and draws. panel.js answers clicks.

const data = JSON.parse(document.getElementById("data").textContent);
const { names, kinds, from, to, kind, values } = data;
const n = names.length, m = from.length;
const canvas = document.querySelector("canvas"), pen = canvas.getContext("2d");
const space = document.getElementById("graph"), panel = document.querySelector("aside");
const tip = document.getElementById("tip"), count = document.getElementById("count");
const family = getComputedStyle(document.body).fontFamily;
const edgesOf = names.map(() => []);
for (let e = 0; e < m; e++) { edgesOf[from[e]].push(e); edgesOf[to[e]].push(e); }
const other = (e, i) => from[e] === i ? to[e] : from[e];

// Places through which an edge runs, until one of its nodes is dragged.
const bendsOf = new Map();
(data.bend_edge || []).forEach((e, k) => bendsOf.set(e, (bendsOf.get(e) || []).concat(k)));
const isBent = e => bendsOf.has(e) && [from[e], to[e]].every(i => x[i] === data.x[i] && y[i] === data.y[i]);
// The points of an edge's line on the screen, from the middle of one node to that of the other.
const pointsOf = e => [[X[from[e]], Y[from[e]]]].concat(
  isBent(e) ? bendsOf.get(e).map(k => onScreen(data.bend_x[k], data.bend_y[k])) : [], [[X[to[e]], Y[to[e]]]]);

// Points along an edge's line: a bent one is a spline through pointsOf().
function alongOf(e) {
  const points = pointsOf(e), k = points.length, along = [points[0]];
  if (k === 2) return points;
  for (let i = 1; i < k; i++) {
    const o = points[Math.max(i - 2, 0)], p = points[i - 1], q = points[i], r = points[Math.min(i + 1, k - 1)];
    for (let t = 0.125; t <= 1; t += 0.125) {
      const [c0, c1, c2, c3] = [-t + 2 * t * t - t * t * t, 2 - 5 * t * t + 3 * t * t * t, t + 4 * t * t - 3 * t * t * t, -t * t + t * t * t];
      along.push([0, 1].map(d => (c0 * o[d] + c1 * p[d] + c2 * q[d] + c3 * r[d]) / 2));
    }
  }
  return along;
}

// Order in which nodes get their labels: nodes of `around`, then those with the largest values or most neighbours.
const isFocus = new Set(data.focus);
const weight = i => data.size_of ? data.size_of[i] : edgesOf[i].length;
const ranked = names.map((_, i) => i).sort((a, b) =>
  isFocus.has(b) - isFocus.has(a) || weight(b) - weight(a) || edgesOf[b].length - edgesOf[a].length || a - b);
// Widths of labels in units of the font size.
pen.font = "100px " + family;
const wide = names.map(name => pen.measureText(name).width / 100);

// ---- Layout and view: screen = (position * stretch - centre) * scale + middle of the canvas -----------------------
let x = data.x.slice(), y = data.y.slice(), tall = false;
let W = 1, H = 1, scale = 1, fitted = 1, stretch = [1, 1], centre = [0, 0], moved = false, ownPlaces = false;
const X = new Float64Array(n), Y = new Float64Array(n);
// Boxes become dots where their labels would be too small to read.
const boxed = () => data.boxes && (scale >= 8 || n === 1);
const halfBox = i => [(wide[i] + 1) / 2, 0.9];

function fit() {
  if (!n) return;
  if (data.tall_x && !ownPlaces && tall !== (W < H)) {
    tall = W < H;
    x = (tall ? data.tall_x : data.x).slice();
    y = (tall ? data.tall_y : data.y).slice();
  }
  const place = asBoxes => {
    const half = asBoxes ? halfBox : i => [data.size[i] / 2, data.size[i] / 2];
    const room = asBoxes ? [W - 24, H - 24] : [W - (n > 1 ? 70 : 0), H - 40];
    const span = [];
    // The ends of the graph along axis k, where the distances of nodes, but not their sizes, are stretched by s.
    const ends = (k, s) => {
      let low = Infinity, high = -Infinity, first = Infinity, last = -Infinity;
      for (let i = 0; i < n; i++) {
        const at = (k ? y : x)[i] * s, away = half(i)[k];
        low = Math.min(low, at - away);
        high = Math.max(high, at + away);
        first = Math.min(first, at);
        last = Math.max(last, at);
      }
      if (!ownPlaces && !tall) for (const at of (k ? data.bend_y : data.bend_x) || []) {
        low = Math.min(low, at * s);
        high = Math.max(high, at * s);
      }
      span[k] = last - first;
      return [low, high];
    };
    const size = [0, 1].map(k => { const [low, high] = ends(k, 1); return high - low; });
    scale = Math.min(room[0] / size[0], room[1] / size[1], data.boxes ? 22 : 60);
    // Uses the rest of the window, but stretches no axis to more than 1.6 times the other.
    stretch = [0, 1].map(k => data.stretch && span[k] > 0 ?
      Math.max(1, (room[k] / scale - size[k] + span[k]) / span[k]) : 1);
    const least = Math.min(...stretch);
    stretch = stretch.map(s => Math.min(s / least, 1.6) * Math.min(least, 1.3));
    centre = [0, 1].map(k => { const [low, high] = ends(k, stretch[k]); return (low + high) / 2; });
  };
  place(data.boxes);
  if (data.boxes && !boxed()) place(false);
  fitted = scale;
  moved = false;
}
function onScreen(a, b) {
  return [(a * stretch[0] - centre[0]) * scale + W / 2, (b * stretch[1] - centre[1]) * scale + H / 2];
}
function project() {
  for (let i = 0; i < n; i++) [X[i], Y[i]] = onScreen(x[i], y[i]);
}
function zoom(factor, px, py) {
  const next = Math.min(Math.max(scale * factor, fitted / 3), Math.max(fitted * 40, 40));
  // The point under the pointer stays where it is.
  centre[0] += (px - W / 2) * (1 / scale - 1 / next);
  centre[1] += (py - H / 2) * (1 / scale - 1 / next);
  scale = next;
  moved = true;
  redraw();
}
const radius = i => data.boxes ? Math.max(3, Math.min(0.45 * scale, 9)) :
  Math.max(1.2, Math.min(0.36 * scale, 9)) * data.size[i];

// ---- Filters ------------------------------------------------------------------------------------------------------
const shown = new Uint8Array(m).fill(1), faded = new Uint8Array(n);
const filters = [];
function apply() {
  let left = 0;
  for (let e = 0; e < m; e++) {
    shown[e] = filters.every(f => f.limit === null || f.numbers[e] === null ||
      (f.most ? f.numbers[e] <= f.limit : f.numbers[e] >= f.limit)) ? 1 : 0;
    left += shown[e];
  }
  for (let i = 0; i < n; i++) faded[i] = edgesOf[i].length && !edgesOf[i].some(e => shown[e]) ? 1 : 0;
  const words = (k, one) => k.toLocaleString("en") + " " + one + (k === 1 ? "" : "s");
  count.textContent = words(n, "node") + ", " +
    (left < m ? left.toLocaleString("en") + " of " : "") + words(m, "edge");
  describe();
  redraw();
}
const brief = v => v === 0 ? "0" : Math.abs(v) < 1e-4 || Math.abs(v) >= 1e5 ? v.toExponential(1) :
  String(Number(v.toPrecision(3)));
values.forEach(value => {
  if (!value.filter) return;
  const numbers = value.numbers.map(v => v === null ? null : value.filter === "size" ? Math.abs(v) : v);
  const sorted = Array.from(new Set(numbers.filter(v => v !== null))).sort((a, b) => a - b);
  if (sorted.length < 2) return;
  // The slider runs over the edges' own values, so that each step hides about as many edges, whatever their scale.
  const most = value.filter === "most", steps = Math.min(sorted.length, 200) - 1;
  const at = k => sorted[Math.round(k / steps * (sorted.length - 1))];
  const filter = { numbers, most, limit: null };
  filters.push(filter);
  const label = document.createElement("label");
  label.title = value.hint;
  label.append(value.says + (most ? " \u2264" : " \u2265"));
  const slider = document.createElement("input"), field = document.createElement("input");
  slider.type = "range"; slider.min = 0; slider.max = steps;
  slider.value = most ? steps : 0;
  slider.setAttribute("aria-label", value.says);
  field.type = "text"; field.inputMode = "decimal"; field.placeholder = "all";
  field.setAttribute("aria-label", value.says + (most ? ", at most" : ", at least"));
  slider.id = "slider-" + value.name; field.id = "field-" + value.name;
  slider.oninput = () => {
    const k = Number(slider.value);
    filter.limit = k === (most ? steps : 0) ? null : at(k);
    field.value = filter.limit === null ? "" : brief(filter.limit);
    field.classList.remove("wrong");
    apply();
  };
  field.onchange = () => {
    const typed = Number(field.value.replace(",", "."));
    field.classList.toggle("wrong", isNaN(typed));
    if (isNaN(typed)) return;
    filter.limit = field.value.trim() === "" ? null : typed;
    let k = most ? steps : 0;
    if (filter.limit !== null) {
      if (most) while (k > 0 && at(k) > typed) k--;
      else while (k < steps && at(k) < typed) k++;
    }
    slider.value = k;
    apply();
  };
  label.append(slider, field);
  document.querySelector("header").insertBefore(label, count);
});

// ---- Drawing ------------------------------------------------------------------------------------------------------
let chosen = null, before = null, chosenEdge = null, waiting = false;
function redraw() {
  if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; draw(); }); }
}
// The distance from the middle of node i to its border, in the direction (ux, uy).
function reach(i, ux, uy) {
  if (!boxed()) return radius(i) + 1;
  const [a, b] = halfBox(i);
  return scale * Math.min(a / Math.max(Math.abs(ux), 1e-9), b / Math.max(Math.abs(uy), 1e-9)) + 1;
}
function bright() {
  if (chosen === null && chosenEdge === null) return null;
  const set = new Set();
  if (chosenEdge !== null) { set.add(from[chosenEdge]); set.add(to[chosenEdge]); }
  if (chosen !== null) {
    set.add(chosen);
    edgesOf[chosen].forEach(e => { if (shown[e]) set.add(other(e, chosen)); });
    if (before !== null) { set.add(before); setOf(chosen, before).set.forEach(i => { if (i < n) set.add(i); }); }
  }
  return set;
}
// Tiers from left to right: every second one on a light ground, and their names.
function drawTiers() {
  if (!data.tier) return;
  const half = i => boxed() ? halfBox(i)[0] * scale : radius(i), ends = new Map();
  for (let i = 0; i < n; i++) {
    // A node that was dragged does not take its tier along.
    if (x[i] !== data.x[i]) continue;
    const [a, b] = ends.get(data.tier[i]) || [Infinity, -Infinity];
    ends.set(data.tier[i], [Math.min(a, X[i] - half(i)), Math.max(b, X[i] + half(i))]);
  }
  const tiers = Array.from(ends.keys()).sort((a, b) => a - b);
  tiers.forEach((tier, k) => {
    const [a, b] = ends.get(tier);
    const left = k ? (ends.get(tiers[k - 1])[1] + a) / 2 : a - 12;
    const right = k < tiers.length - 1 ? (b + ends.get(tiers[k + 1])[0]) / 2 : b + 12;
    pen.fillStyle = "#f4f4f4";
    if (k % 2) pen.fillRect(left, 0, right - left, H);
    if (data.heads) {
      pen.fillStyle = "#5a5a5a"; pen.font = "italic 12px " + family; pen.textAlign = "center"; pen.textBaseline = "top";
      pen.fillText(data.heads[tier - 1] || "", (left + right) / 2, 4);
    }
  });
}
function drawEdges(lit) {
  const head = data.boxes && boxed() ? Math.max(5, Math.min(0.75 * scale, 13)) :
    Math.max(3, Math.min(0.6 * scale, 10));
  const line = data.boxes ? (boxed() ? 1.4 : 1) : Math.max(0.5, Math.min(1.4, scale / 12));
  // Lines become transparent where they would blacken the window.
  let ink = 0;
  for (let e = 0; e < m; e++) if (shown[e]) ink += Math.hypot(X[to[e]] - X[from[e]], Y[to[e]] - Y[from[e]]);
  ink *= line / (W * H) * Math.pow(fitted / scale, 2);
  const plain = data.boxes || ink < 0.15 ? 1 : Math.max(0.15, Math.pow(0.15 / ink, 0.7));
  const groups = new Map(), all = [];
  for (let e = 0; e < m; e++) {
    if (!shown[e]) continue;
    const a = from[e], b = to[e];
    if (Math.max(X[a], X[b]) < 0 || Math.min(X[a], X[b]) > W || Math.max(Y[a], Y[b]) < 0 || Math.min(Y[a], Y[b]) > H) continue;
    const strong = e === chosenEdge || chosen !== null && (a === chosen || b === chosen);
    const alpha = strong ? 1 : lit ? Math.min(0.12, plain) : plain;
    const colour = data.edge_colour ? data.edge_colour[e] : kinds[kind[e]].colour;
    const width = (data.edge_width ? data.edge_width[e] : 1) * line * (e === chosenEdge ? 2.2 : strong ? 1.4 : 1);
    const key = alpha + "|" + colour + "|" + width.toFixed(2) + "|" + kind[e];
    let group = groups.get(key);
    // Paths of 100 lines are drawn five times as fast as one path of thousands.
    if (!group || group.edges.length === 100) {
      group = { alpha, colour, width, look: kinds[kind[e]], edges: [] };
      groups.set(key, group);
      all.push(group);
    }
    group.edges.push(e);
  }
  all.sort((a, b) => a.alpha - b.alpha).forEach(group => {
    pen.globalAlpha = group.alpha;
    pen.strokeStyle = pen.fillStyle = group.colour;
    pen.lineWidth = group.width;
    pen.setLineDash(group.look.dashed ? [5, 4] : []);
    const heads = [], circles = [];
    pen.beginPath();
    for (const e of group.edges) {
      const points = pointsOf(e), k = points.length;
      // Directions from a node into the line, at both ends.
      const into = (p, q) => { const l = Math.hypot(q[0] - p[0], q[1] - p[1]); return [(q[0] - p[0]) / l, (q[1] - p[1]) / l, l]; };
      const [ux, uy, length] = into(points[0], points[1]), [vx, vy] = into(points[k - 1], points[k - 2]);
      if (!(length > 1e-6)) continue;
      const start = reach(from[e], ux, uy), end = reach(to[e], vx, vy), rest = k > 2 ? Infinity : length - start - end;
      if (rest <= 0) continue;
      const mark = Math.min(head, 0.45 * rest);
      const first = [points[0][0] + ux * start, points[0][1] + uy * start];
      const last = [points[k - 1][0] + vx * end, points[k - 1][1] + vy * end];
      const cut = type => type === "tail" ? 0 : 0.8 * mark;
      const s = cut(group.look.tail), t = cut(group.look.head);
      points[0] = [first[0] + ux * s, first[1] + uy * s];
      points[k - 1] = [last[0] + vx * t, last[1] + vy * t];
      pen.moveTo(...points[0]);
      for (let i = 1; i < k; i++) {
        const o = points[Math.max(i - 2, 0)], p = points[i - 1], q = points[i], r = points[Math.min(i + 1, k - 1)];
        if (k === 2) pen.lineTo(...q);
        else pen.bezierCurveTo(p[0] + (q[0] - o[0]) / 6, p[1] + (q[1] - o[1]) / 6, q[0] - (r[0] - p[0]) / 6, q[1] - (r[1] - p[1]) / 6, ...q);
      }
      [[group.look.tail, first, ux, uy], [group.look.head, last, vx, vy]].forEach(([type, at, dx, dy]) => {
        if (type === "arrow") heads.push([at, -dx, -dy, mark]);
        if (type === "circle") circles.push([at[0] + 0.4 * mark * dx, at[1] + 0.4 * mark * dy, 0.4 * mark]);
      });
    }
    pen.stroke();
    pen.setLineDash([]);
    pen.beginPath();
    for (const [at, ux, uy, a] of heads) {
      pen.moveTo(at[0], at[1]);
      pen.lineTo(at[0] - a * ux - 0.38 * a * uy, at[1] - a * uy + 0.38 * a * ux);
      pen.lineTo(at[0] - a * ux + 0.38 * a * uy, at[1] - a * uy - 0.38 * a * ux);
      pen.closePath();
    }
    pen.fill();
    pen.fillStyle = "#fff";
    pen.lineWidth = Math.min(group.width, 1.4);
    pen.beginPath();
    for (const [cx, cy, r] of circles) { pen.moveTo(cx + r, cy); pen.arc(cx, cy, r, 0, 2 * Math.PI); }
    pen.fill();
    pen.stroke();
  });
  pen.globalAlpha = 1;
}
const one = (column, i) => column.length === 1 ? column[0] : column[i];
function drawNodes(lit) {
  const asBoxes = boxed(), size = scale;
  if (asBoxes) { pen.font = size + "px " + family; pen.textAlign = "center"; pen.textBaseline = "middle"; }
  for (let k = n - 1; k >= 0; k--) {
    const i = ranked[k], r = asBoxes ? halfBox(i)[0] * size : radius(i);
    if (X[i] < -r || X[i] > W + r || Y[i] < -r - 20 || Y[i] > H + r + 20) continue;
    const dim = faded[i] || lit && !lit.has(i);
    pen.globalAlpha = 1;
    const strong = i === chosen || i === before || isFocus.has(i);
    pen.strokeStyle = i === chosen || i === before ? "#D55E00" : one(data.border, i);
    pen.lineWidth = strong ? 2.5 : asBoxes ? 1 : Math.min(1, r / 6);
    pen.beginPath();
    if (asBoxes) {
      const [a, b] = halfBox(i).map(half => half * size), c = Math.min(0.45 * size, a, b);
      pen.moveTo(X[i] - a + c, Y[i] - b);
      pen.arcTo(X[i] + a, Y[i] - b, X[i] + a, Y[i] + b, c);
      pen.arcTo(X[i] + a, Y[i] + b, X[i] - a, Y[i] + b, c);
      pen.arcTo(X[i] - a, Y[i] + b, X[i] - a, Y[i] - b, c);
      pen.arcTo(X[i] - a, Y[i] - b, X[i] + a, Y[i] - b, c);
      pen.closePath();
    } else {
      pen.arc(X[i], Y[i], r, 0, 2 * Math.PI);
    }
    // Lines do not show through a faded node.
    if (dim) { pen.fillStyle = "#fff"; pen.fill(); pen.globalAlpha = 0.25; }
    pen.fillStyle = !asBoxes && data.dot_fill || one(data.fill, i);
    pen.fill();
    pen.stroke();
    pen.globalAlpha = dim ? 0.4 : 1;
    if (asBoxes) { pen.fillStyle = dim ? "#000" : one(data.text, i); pen.fillText(names[i], X[i], Y[i] + 0.05 * size); }
  }
  pen.globalAlpha = 1;
}
// Labels next to dots: hubs first, more of them the more one zooms in, none over another.
function drawLabels(lit) {
  if (boxed()) return 0;
  const at = 34, cells = new Map();
  const each = (box, act) => {
    for (let a = Math.floor(box[0] / at); a <= Math.floor(box[2] / at); a++)
      for (let b = Math.floor(box[1] / at); b <= Math.floor(box[3] / at); b++) if (act(a + ":" + b)) return true;
    return false;
  };
  const hits = box => each(box, key => (cells.get(key) || []).some(o =>
    o[0] < box[2] && o[2] > box[0] && o[1] < box[3] && o[3] > box[1]));
  const add = box => { each(box, key => { if (!cells.has(key)) cells.set(key, []); cells.get(key).push(box); }); };
  const inView = i => X[i] > -20 && X[i] < W + 20 && Y[i] > -20 && Y[i] < H + 20;
  const first = Math.max(6, Math.min(40, W * H / 20000));
  let most = data.labels === "all" || n <= 60 ? n : first * Math.pow(scale / fitted, 2);
  if (n > 60 && n <= 120) most = Math.max(most, n / 2);
  const list = [];
  const must = [chosen, before].filter(i => i !== null);
  if (lit) lit.forEach(i => { if (!must.includes(i)) must.push(i); });
  must.forEach(i => { if (inView(i)) list.push(i); });
  if (data.labels !== "none") for (let k = 0; k < n && k < most; k++) {
    const i = ranked[k];
    if (!faded[i] && inView(i) && !(lit && !lit.has(i)) && !must.includes(i)) list.push(i);
  }
  // Dots of the labelled nodes stay free; in crowds a label may cover other dots.
  list.slice(0, 400).forEach(i => { const r = radius(i); add([X[i] - r, Y[i] - r, X[i] + r, Y[i] + r]); });
  let drawn = 0;
  pen.textAlign = "left"; pen.textBaseline = "middle"; pen.lineJoin = "round";
  for (const i of list.slice(0, 400)) {
    const big = i === chosen || i === before, size = big ? 14 : n > 300 ? 12 : 13;
    const w = wide[i] * size * (big ? 1.08 : 1) + 2, h = size + 2, r = radius(i) + 2;
    // To the right, to the left, above or below, where fewest lines of the node pass.
    const places = [[1, 0], [-1, 0], [0, -1], [0, 1]].map(([u, v]) => {
      const lines = edgesOf[i].filter(e => {
        const dx = X[other(e, i)] - X[i], dy = Y[other(e, i)] - Y[i];
        return shown[e] && u * dx + v * dy > (u ? 0.85 : 0.6) * Math.hypot(dx, dy);
      }).length;
      return [X[i] - w / 2 + u * (r + w / 2), Y[i] - h / 2 + v * (r + h / 2), lines];
    }).sort((a, b) => a[2] - b[2]);
    const place = places.find(([a, b]) => a >= 0 && a + w <= W && b >= 0 && b + h <= H && !hits([a, b, a + w, b + h])) ||
      (big ? places[0] : null);
    if (!place) continue;
    add([place[0], place[1], place[0] + w, place[1] + h]);
    pen.font = (big ? "bold " : "") + size + "px " + family;
    pen.strokeStyle = "#ffffffd0"; pen.lineWidth = 3; pen.fillStyle = "#111";
    pen.strokeText(names[i], place[0] + 1, place[1] + h / 2);
    pen.fillText(names[i], place[0] + 1, place[1] + h / 2);
    drawn++;
  }
  return drawn;
}
let labelled = 0;
function draw() {
  const ratio = window.devicePixelRatio || 1;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, W, H);
  project();
  const lit = bright();
  drawTiers();
  drawEdges(lit);
  drawNodes(lit);
  labelled = drawLabels(lit);
  if (!n) { pen.font = "14px " + family; pen.textAlign = "center"; pen.fillText("No variables", W / 2, H / 2); }
}
