// Curves of a run, drawn again when metrics.jsonl has grown. Scaled by the eye of the reader: hover tells the value.

import { ask, h, percent, runTitle, s } from "./dom.js";

const WIDTH = 360, HEIGHT = 170, LEFT = 46, RIGHT = 10, TOP = 12, BOTTOM = 24;
const MATTER = { reinforce: ["success", "groups", "mean_turns", "mean_reply_tokens", "entropy", "grad_norm"], clone: ["loss", "held_out_loss", "grad_norm", "entropy", "lr", "tokens_per_s"] };
const SHARES = [["groups_all_0", "failed", "all failed"], ["groups_mixed", "mixed", "mixed"], ["groups_all_1", "passed", "all passed"]];

function short(value) {
  const size = Math.abs(value);
  if (value === 0 || (size >= 0.001 && size < 1000)) return String(+value.toPrecision(3));
  return size >= 1000 && size < 1e6 ? Math.round(value).toLocaleString("en") : value.toExponential(1).replace(".0e", "e").replace("e+", "e");
}

// The least round number that is not below: 1, 2, 2.5 or 5 times a power of ten.
function roundUp(value) {
  const unit = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].find((factor) => factor * unit >= value * (1 - 1e-9)) * unit;
}

function frame(name, title, rows, high, low, ...shapes) {
  const y = (value) => HEIGHT - BOTTOM - ((value - low) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  const rules = [low, (low + high) / 2, high].map((value) => [
    s("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value), class: "rule" }),
    s("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, short(value)),
  ]);
  return h("figure", { "data-metric": name }, h("figcaption", {}, title),
    s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": name }, rules,
      s("text", { x: LEFT, y: HEIGHT - 6 }, String(rows[0].step)),
      s("text", { x: WIDTH - RIGHT, y: HEIGHT - 6, "text-anchor": "end" }, `step ${rows.at(-1).step}`), shapes));
}

function curve({ name, title, top }, all) {
  const rows = all.filter((row) => typeof row[name] === "number");
  if (!rows.length) return null;
  const values = rows.map((row) => row[name]);
  const lowest = Math.min(...values), highest = Math.max(...values);
  const low = lowest < 0 ? -roundUp(-lowest) : 0;
  const high = top ?? (highest > 0 ? roundUp(highest) : low < 0 ? 0 : 1);
  const first = rows[0].step, last = Math.max(rows.at(-1).step, first + 1);
  const x = (step) => LEFT + ((step - first) / (last - first)) * (WIDTH - LEFT - RIGHT);
  const y = (value) => HEIGHT - BOTTOM - ((value - low) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  const line = s("polyline", { points: rows.map((row) => `${x(row.step).toFixed(1)},${y(row[name]).toFixed(1)}`).join(" ") });
  const dots = rows.map((row) => s("circle", { cx: x(row.step), cy: y(row[name]), r: rows.length > 60 ? 1.6 : 3 },
    s("title", {}, `step ${row.step}: ${short(row[name])}`)));
  const figure = frame(name, title, rows, high, low, line, dots);
  figure.querySelector("figcaption").append(h("span", { class: "latest", title: `at step ${rows.at(-1).step}` }, top === 1 ? percent(values.at(-1)) : short(values.at(-1))));
  return figure;
}

function shares(all) {
  const rows = all.filter((row) => SHARES.some(([name]) => typeof row[name] === "number"));
  if (!rows.length) return null;
  const room = (WIDTH - LEFT - RIGHT) / rows.length;
  const shapes = rows.flatMap((row, place) => {
    const total = SHARES.reduce((sum, [name]) => sum + (row[name] || 0), 0) || 1;
    let top = HEIGHT - BOTTOM;
    return SHARES.map(([name, kind, label]) => {
      const height = ((row[name] || 0) / total) * (HEIGHT - TOP - BOTTOM);
      top -= height;
      return s("rect", { x: LEFT + (place + 0.08) * room, y: top, width: room * 0.84, height, class: kind },
        s("title", {}, `step ${row.step}: ${row[name] || 0} of ${total} groups ${label}`));
    });
  });
  const figure = frame("groups", "Groups by outcome", rows, 1, 0, shapes);
  figure.append(h("p", { class: "key" }, SHARES.map(([, kind, label]) => h("span", {}, h("i", { class: kind }), label))));
  return figure;
}

export function metricsView(state, parameters, main) {
  let run = parameters.run || ".";
  let stamp = null;

  const stages = () => state.runs.filter((one) => one.steps && (run === "." || one.name === run || one.name.startsWith(`${run}/`)));
  async function draw() {
    const now = JSON.stringify([run, stages().map((one) => [one.name, one.stamp])]);
    if (now === stamp) return;
    stamp = now;
    const parts = await Promise.all(stages().map(async (one) => ({ one, ...(await ask("/api/metrics", { run: one.name })) })));
    const open = [...main.querySelectorAll("details.rest[open]")].map((details) => details.dataset.name);
    main.replaceChildren(h("h1", { class: "hidden", tabindex: "-1" }, `Metrics of ${runTitle(run, state.root)}`), ...parts.map(({ one, rows, curves, skipped }) => {
      const common = curves.filter(({ name }) => !name.startsWith("worker/")), workers = curves.filter(({ name }) => name.startsWith("worker/"));
      const matter = MATTER[rows.some((row) => "success" in row) ? "reinforce" : "clone"];
      const drawn = (wanted) => wanted.map((one) => (one === "groups" ? shares(rows) : one && curve(one, rows))).filter(Boolean);
      const first = drawn(matter.map((name) => (name === "groups" ? name : common.find((one) => one.name === name))));
      const rest = drawn(common.filter(({ name }) => !matter.includes(name)));
      return h("section", { class: "stage", "data-run": one.name },
        h("h2", {}, runTitle(one.name, state.root), h("small", {}, ` ${rows.length} steps`)),
        skipped.length ? h("p", { class: "warn" }, skipped.join("; ")) : null,
        h("div", { class: "figures" }, first),
        rest.length ? h("details", { class: "rest", "data-name": one.name }, h("summary", {}, `${rest.length} more ${rest.length === 1 ? "curve" : "curves"}`), h("div", { class: "figures" }, rest)) : null,
        workers.length ? h("details", {}, h("summary", {}, "By worker of the cluster"),
          h("div", { class: "figures" }, workers.map((one) => curve(one, rows)).filter(Boolean))) : null);
    }));
    for (const details of main.querySelectorAll("details.rest")) details.open = open.includes(details.dataset.name);
    if (!parts.length) main.replaceChildren(h("p", { class: "empty" }, "No metrics here: training writes them step by step, and they appear by themselves."));
  }
  return { open: draw, grown: draw, update: (next) => { run = next.run || "."; return draw(); } };
}
