// All runs below the folder, each with its stages, how they fared and what could not be read.

import { h, link, percent, runTitle } from "./dom.js";

function bar(success) {
  if (!success.n) return null;
  const [low, high] = success.interval;
  const range = h("i");
  range.style.left = `${100 * low}%`;
  range.style.right = `${100 - 100 * high}%`;
  const dot = h("b");
  dot.style.left = `${100 * success.value}%`;
  const told = `${percent(success.value)} of ${success.n} passed, 95 % CI ${percent(low)} to ${percent(high)}`;
  return h("span", { class: "rate", title: told }, h("span", { class: "bar" }, range, dot), h("span", {}, percent(success.value, 0)));
}

const report = (run) => h("a", { href: `/report?${new URLSearchParams({ run: run.name })}`, target: "_blank", rel: "noopener" }, "Report");

function skipped(run) {
  if (!run.skipped.length) return null;
  return h("details", { class: "skipped", "data-name": run.name }, h("summary", {}, `${run.skipped.length} not or only partly read`),
    h("ul", {}, run.skipped.slice(0, 50).map((what) => h("li", {}, what))));
}

const counted = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;

function stage(run, title) {
  const facts = [run.command !== title && run.command, run.episodes > run.demonstrations && counted(run.episodes - run.demonstrations, "episode"), run.demonstrations && counted(run.demonstrations, "demonstration"), run.steps && counted(run.steps, "step"), run.success.lost];
  return h("div", { class: "stage-row", "data-run": run.name },
    h("span", { class: "stage-name" },
      h("a", { href: link(run.below || !run.steps ? "list" : "metrics", { run: run.name }) }, title),
      h("span", { class: "soft small" }, facts.filter(Boolean).join(" · ") || "nothing yet"),
      run.start ? h("span", { class: "soft mono" }, run.start) : null),
    bar(run.success),
    h("span", { class: "links" },
      run.steps ? h("a", { href: link("metrics", { run: run.name }) }, "Metrics") : null, report(run)),
    skipped(run));
}

function card(family, root) {
  const [first, ...rest] = family;
  const stages = rest.sort((one, other) => one.changed - other.changed);
  const title = runTitle(first.name, root);
  return h("article", { class: "card" },
    stages.length
      ? [h("h2", {}, h("a", { href: link("list", { run: first.name }) }, title), h("small", {}, ` ${first.command} · ${first.below.toLocaleString("en")} episodes `), report(first)),
        skipped(first), stages.map((run) => stage(run, run.name.slice(first.name === "." ? 0 : first.name.length + 1)))]
      : stage(first, title));
}

function families(runs) {
  const found = [];
  for (const run of runs) {
    const parent = found.find(([first]) => first.name === "." || run.name.startsWith(`${first.name}/`));
    if (parent) parent.push(run);
    else found.push([run]);
  }
  return found;
}

export function runsView(state, parameters, main) {
  const draw = () => {
    const open = [...main.querySelectorAll("details[open]")].map((details) => details.dataset.name);
    main.replaceChildren(
      h("h1", { tabindex: "-1" }, state.root),
      state.runs.length
        ? h("div", { class: "cards" }, families(state.runs).map((family) => card(family, state.root)))
        : h("p", { class: "empty" }, "No runs here: a run is a folder with a config.toml, metrics or trajectories."));
    for (const details of main.querySelectorAll("details[data-name]")) details.open = open.includes(details.dataset.name);
  };
  return { open: draw, grown: draw, update: draw };
}
