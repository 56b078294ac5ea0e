// The address decides what is shown: #/runs, #/list?run=…, #/metrics?run=…, #/episode?a=…&b=…&turn=…, #/live?a=…&b=…
// One poll asks what is there; a view is told when something it shows has grown.

import { ask, h, link, runTitle } from "./dom.js";
import { runsView } from "./runs.js";
import { listView } from "./list.js";
import { metricsView } from "./metrics.js";
import { episodeView } from "./episode.js";
import { liveView } from "./live.js";

const POLL_MS = 2000;
const HURRY_MS = 150; // while the index is being built
const VIEWS = { runs: runsView, list: listView, metrics: metricsView, episode: episodeView, live: liveView };

const main = document.getElementById("main");
const chooser = document.getElementById("run");
const state = { root: "", runs: [], pending: 0, studio: false, draws: false, run: "", kept: null, ids: [], list: "" };
let view = null;
let shown = "";
let visited = false;

function route() {
  const [name, query] = location.hash.replace(/^#\/?/, "").split("?");
  return { name: VIEWS[name] ? name : "", parameters: Object.fromEntries(new URLSearchParams(query || "")) };
}

function home() {
  const only = state.runs.length === 1;
  return only ? link("list", { run: state.runs[0].name }) : "#/runs";
}

async function show() {
  const { name, parameters } = route();
  if (!name) return location.replace(home());
  if (parameters.run) state.run = parameters.run;
  if (view && name === shown && view.update) await view.update(parameters);
  else {
    view?.close?.();
    shown = name;
    view = VIEWS[name](state, parameters, main);
    await view.open?.();
    // Who follows a link by keyboard or screen reader goes on from the new page's heading.
    if (visited) (main.querySelector("h1") || main).focus({ preventScroll: true });
    visited = true;
  }
  if (name !== "live") document.title = [...new Set([main.querySelector("h1")?.firstChild?.textContent, state.root, "clickgrad"])].filter(Boolean).join(" · ");
  drawHeader(name);
}

function drawHeader(name) {
  const all = state.runs.some((run) => run.name === ".") ? [] : [h("option", { value: "." }, `all of ${state.root}`)];
  chooser.replaceChildren(...all, ...state.runs.map((run) =>
    h("option", { value: run.name }, `${runTitle(run.name, state.root)}${run.below ? ` (${run.below})` : ""}`)));
  chooser.value = state.run || ".";
  if (chooser.selectedIndex < 0) chooser.append(h("option", { value: state.run, selected: true }, state.run)); // a folder of runs
  const run = state.run || state.runs[0]?.name || ".";
  const item = (to, title, href, active) => h("a", { href, class: active ? "active" : "", "data-view": to }, title);
  document.getElementById("nav").replaceChildren(
    item("list", "Episodes", link("list", { run }), name === "list" || name === "episode"),
    item("metrics", "Metrics", link("metrics", { run }), name === "metrics"),
    item("live", "Live", "#/live", name === "live"),
    h("a", { href: `/report?${new URLSearchParams({ run })}`, target: "_blank", rel: "noopener" }, "Report"),
  );
  const status = document.getElementById("status");
  const inScope = (one) => name === "runs" || run === "." || one.name === run || one.name.startsWith(`${run}/`);
  const recent = state.runs.some((one) => inScope(one) && Date.now() / 1000 - one.changed < 60);
  status.textContent = state.pending ? `indexing, ${(state.pending / 1e6).toFixed(1)} MB left` : recent ? "live" : "";
  status.className = state.pending ? "busy" : recent ? "live" : "";
}

async function poll() {
  let wait = POLL_MS;
  try {
    const answer = await ask("/api/runs");
    const before = JSON.stringify(state.runs);
    Object.assign(state, { root: answer.root, runs: answer.runs, pending: answer.pending });
    if (!state.run) state.run = answer.runs[0]?.name ?? "";
    if (JSON.stringify(answer.runs) !== before) {
      await view?.grown?.();
      if (document.activeElement !== chooser) drawHeader(route().name);
    }
    if (answer.pending) wait = HURRY_MS;
    document.body.classList.remove("lost");
  } catch {
    document.body.classList.add("lost"); // the server ended; the page stays readable
    document.getElementById("status").textContent = "server gone";
  }
  setTimeout(poll, document.hidden ? POLL_MS * 5 : wait);
}

function guarded(task) {
  return Promise.resolve().then(task).catch((error) => {
    main.replaceChildren(h("p", { class: "empty" }, `${error.message}. `, h("a", { href: "#/runs" }, "All runs")));
    view = null;
    shown = "";
  });
}

const keys = document.getElementById("keys");
document.getElementById("help").addEventListener("click", () => keys.showModal());
chooser.addEventListener("change", () => {
  location.hash = link(route().name === "metrics" ? "metrics" : "list", { run: chooser.value });
  chooser.blur();
});
document.addEventListener("keydown", (event) => {
  if (event.altKey && { ArrowLeft: "back", ArrowRight: "forward" }[event.key] && view?.travel?.({ ArrowLeft: "back", ArrowRight: "forward" }[event.key])) {
    event.preventDefault(); // a person who plays goes back in the page that is played, not in the viewer
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
  const field = event.target.closest?.("input, select, textarea");
  if (event.key === "Escape") {
    if (field) field.blur();
    else if (route().name === "episode") location.hash = state.list || link("list", { run: state.run });
    else if (route().name !== "runs") location.hash = "#/runs";
    return;
  }
  if (field) return;
  if (event.key === "?") keys.showModal();
  else if (event.key === "/" && document.getElementById("search")) document.getElementById("search").focus();
  else if (event.key === "/") location.hash = `${state.list || link("list", { run: state.run })}&focus=search`;
  else if (!view?.key?.(event)) return;
  event.preventDefault();
});
window.addEventListener("hashchange", () => guarded(show));

guarded(async () => {
  const answer = await ask("/api/runs");
  Object.assign(state, { root: answer.root, runs: answer.runs, pending: answer.pending, studio: answer.studio, draws: answer.draws, run: answer.runs[0]?.name ?? "" });
  await show();
  setTimeout(poll, answer.pending ? HURRY_MS : POLL_MS);
});
