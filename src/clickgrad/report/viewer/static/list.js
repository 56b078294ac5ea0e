// The episodes of a run: filters above, rows below. Filtering is the server's work; rows come in portions.

import { ask, h, link, outcome, runTitle, seconds } from "./dom.js";

const FILTERS = ["text", "task", "site", "reward", "end", "step"];
const TYPING_MS = 160;

export function listView(state, parameters, main) {
  let asked = { ...parameters };
  let answer = null;
  let chosen = 0;
  let timer = 0;
  let newest = 0;
  let wanted = 0;
  let drawn = "";

  const search = h("input", { id: "search", type: "search", placeholder: "Search intents, actions, answers  ( / )", "aria-label": "Search" });
  const task = h("input", { type: "search", id: "task", placeholder: "Task", "aria-label": "Task", list: "tasks" });
  const tasks = h("datalist", { id: "tasks" });
  const chooser = (name, label) => h("select", { id: name, "aria-label": label });
  const selects = { site: chooser("site", "Site"), reward: chooser("reward", "Reward"), end: chooser("end", "End"), step: chooser("step", "Step") };
  const heading = h("h1", { tabindex: "-1" });
  const count = h("p", { class: "soft", id: "count" });
  const rows = h("div", { class: "rows", role: "list" });
  const more = h("button", { type: "button", class: "more", onclick: () => showMore() }, "More");

  const settings = () => Object.fromEntries(FILTERS.map((name) => [name, asked[name] || ""]));
  const address = () => link("list", { run: asked.run || ".", ...Object.fromEntries(Object.entries(settings()).filter(([, v]) => v)) });

  function change(name, value) {
    asked[name] = value;
    wanted = 0;
    clearTimeout(timer);
    timer = setTimeout(() => history.replaceState(null, "", address()) || tryLoad(0), name === "text" || name === "task" ? TYPING_MS : 0);
  }
  search.addEventListener("input", () => change("text", search.value));
  task.addEventListener("input", () => change("task", task.value));
  for (const [name, select] of Object.entries(selects)) select.addEventListener("change", () => change(name, select.value));

  function fillSelect(name, any, options) {
    const select = selects[name];
    const key = JSON.stringify(options);
    if (select.dataset.key !== key) {
      select.dataset.key = key;
      select.replaceChildren(h("option", { value: "" }, any), ...options.map(([value, title]) => h("option", { value }, title)));
    }
    select.value = asked[name] || "";
    select.hidden = options.length < 2 && !asked[name];
  }

  function row(episode, place) {
    const facts = [episode.task, episode.step !== null && `step ${episode.step}`, episode.end.replace("_", " "), `${episode.turns} ${episode.turns === 1 ? "turn" : "turns"}`,
      episode.reply_tokens && `${episode.reply_tokens} tokens`, seconds(episode.seconds)].filter(Boolean);
    return h("a", { class: `item${place === chosen ? " chosen" : ""}`, href: link("episode", { a: episode.id }), role: "listitem", "data-id": episode.id },
      outcome(episode.reward),
      h("span", { class: "what" },
        h("span", { class: "intent" }, episode.intent || episode.name),
        h("span", { class: "soft" }, facts.join(" · "), episode.note ? h("em", { title: episode.note }, ` · ${episode.note.split(",")[0]}`) : null)),
      h("span", { class: "soft from" }, episode.run === asked.run ? episode.policy : episode.run));
  }

  function draw() {
    fillSelect("site", "Any site", answer.sites.map((name) => [name, name]));
    fillSelect("reward", "Any outcome", [["passed", "passed"], ["failed", "failed"], ["none", "no verdict"]]);
    fillSelect("end", "Any end", answer.ends.map((name) => [name, name.replace("_", " ")]));
    fillSelect("step", "Any step", answer.steps.map((step) => [String(step), `step ${step}`]));
    tasks.replaceChildren(...answer.templates.map((value) => h("option", { value })));
    const share = answer.matched ? `, ${answer.passed} passed` : "";
    count.textContent = `${answer.matched.toLocaleString("en")} of ${answer.total.toLocaleString("en")} episodes${share}`;
    const key = JSON.stringify([answer.rows.map((episode) => episode.id), asked]);
    if (key !== drawn) {
      drawn = key;
      chosen = Math.min(chosen, Math.max(0, answer.rows.length - 1));
      rows.replaceChildren(...answer.rows.map(row));
    }
    if (!answer.rows.length) rows.replaceChildren(h("p", { class: "empty" }, answer.total ? "Nothing fits these filters." : "No episodes yet."));
    more.hidden = answer.rows.length >= answer.matched;
    more.textContent = `Show more (${(answer.matched - answer.rows.length).toLocaleString("en")} left)`;
    state.ids = answer.rows.map((episode) => episode.id);
    state.list = address();
  }

  function showMore() {
    wanted = answer.rows.length + 1;
    tryLoad(answer.rows.length);
  }

  const tryLoad = (start) => load(start).catch(() => {}); // a server that is gone is told of by the poll

  async function load(start, atLeast = 0) {
    const run = asked.run || ".";
    const turn = ++newest;
    let got = await ask("/api/episodes", { run, ...settings(), start });
    const rowsSoFar = start ? [...answer.rows, ...got.rows] : got.rows;
    while (rowsSoFar.length < Math.min(atLeast, got.matched)) { // keep the portions that were open
      got = await ask("/api/episodes", { run, ...settings(), start: rowsSoFar.length });
      rowsSoFar.push(...got.rows);
    }
    if (turn !== newest) return; // asked again since: an older answer must not overwrite a newer one
    answer = { ...got, rows: rowsSoFar };
    draw();
  }

  function choose(place) {
    const items = rows.querySelectorAll(".item");
    if (!items.length) return;
    items[chosen]?.classList.remove("chosen");
    chosen = Math.max(0, Math.min(items.length - 1, place));
    items[chosen].classList.add("chosen");
    items[chosen].scrollIntoView({ block: "nearest" });
  }

  async function update(next) {
    asked = { ...next };
    heading.textContent = `Episodes of ${runTitle(asked.run || ".", state.root)}`;
    wanted = 0;
    search.value = asked.text || "";
    task.value = asked.task || "";
    await load(0);
    if (next.focus) search.focus();
  }

  return {
    async open() {
      heading.textContent = `Episodes of ${runTitle(asked.run || ".", state.root)}`;
      main.replaceChildren(heading, h("div", { class: "filters" }, search, task, tasks, Object.values(selects)), count, rows, more);
      const last = state.ids.indexOf(state.last);
      if (last > 0) chosen = last;
      await update(asked);
      if (last > 0) choose(last);
    },
    update,
    grown: () => load(0, Math.max(wanted, answer?.rows.length || 0)),
    close: () => clearTimeout(timer),
    key(event) {
      if (event.key === "j" || event.key === "ArrowDown") choose(chosen + 1);
      else if (event.key === "k" || event.key === "ArrowUp") choose(chosen - 1);
      else if (event.key === "Enter" && document.activeElement.tagName !== "A") rows.querySelectorAll(".item")[chosen]?.click();
      else if (event.key === "c") state.kept = answer.rows[chosen]?.id;
      else return false;
      return true;
    },
  };
}
