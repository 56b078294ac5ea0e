// Running episodes: all of them as cards, one or two side by side as they go, and the stage of watch, demo and record.

import { ask, h, link } from "./dom.js";
import { promptPart, replyPart, resultsPart } from "./episode.js";
import { hands, wish } from "./hands.js";

const PHASES = { opening: "opening the page", thinking: "reading and thinking", acting: "about to act", judging: "being judged" };
const CHECKS = { state: "the site's data", answer: "the answer", url: "the address", page: "the page", reward: "the page's own reward" };
const LIST_MS = 1000;
const OFFERED = 6; // tasks on the first page of `record`

function checks(state) {
  const told = state.phase === "ended" && state.results.length ? state.results : state.checks;
  if (!told.length) return null;
  return h("p", { class: "checks" }, h("span", { class: "soft small" }, "As asked:"), told.map((one) =>
    h("span", { class: one.passed ? "check ok" : "check" }, `${one.passed ? "✓" : "○"} ${CHECKS[one.check] || one.check}`)));
}

function verdict(state, person) {
  const kind = state.outcome === "passed" ? "passed" : state.outcome === "failed" ? "failed" : "none";
  const word = { passed: "Passed", failed: "Failed", none: "No verdict" }[kind];
  const turns = `${state.turns} ${state.turns === 1 ? "turn" : "turns"}`;
  return h("div", { class: `verdict ${kind}`, role: "status" }, h("strong", {}, word), ` in ${turns}`,
    state.plainly ? h("p", {}, state.plainly) : state.error ? h("p", {}, state.error) : null,
    person && kind === "passed" ? h("p", {}, "It is kept as a demonstration.") : null);
}

// One task of every site, as far as they go: for somebody who has none in mind.
function offer(tasks, play) {
  const sites = new Map();
  for (const task of tasks) {
    const site = task.id.split(".")[0];
    if (!sites.has(site)) sites.set(site, task);
  }
  const chosen = [...sites.values()].slice(0, OFFERED);
  return [
    h("p", {}, "Do a task yourself: click what is framed on the page, or walk with Tab and Enter. You get the verdict an agent would get, and what passes is a demonstration to learn from."),
    h("div", { class: "offers" }, chosen.map((task) => h("button", { type: "button", class: "card offer", onclick: () => play(task.id) },
      h("b", {}, task.intent), h("span", { class: "soft mono" }, task.id)))),
  ];
}

// One episode, drawn in parts so that the picture, the reply and a person's hands are not torn away by each other.
function column(title, person, seat, onTold) {
  const badge = h("span", { class: "badge plain" });
  const place = h("p", { class: "place mono" });
  const image = h("img", { alt: "", class: "glass" });
  const ring = h("span", { class: "outline" });
  const screen = h("div", { class: "screen live" }, image, ring);
  const what = h("p", { class: "action", hidden: true });
  const now = h("div", {});
  const held = h("div", {});
  const below = h("div", {});
  const end = h("div", {});
  const mine = person ? hands(onTold) : null;
  if (mine) screen.append(mine.overlay);
  let state = null, drawn = "", pictures = -1;

  const size = () => (image.naturalWidth ? { width: image.naturalWidth, height: image.naturalHeight } : null);
  function frame() {
    const turn = state?.turn_list.at(-1);
    const box = state?.phase === "acting" ? turn?.element?.box : null;
    ring.classList.toggle("placed", Boolean(box && size()));
    if (box && size()) {
      const [left, top, width, height] = box, { width: w, height: t } = size();
      ring.style.left = `${(100 * (left - 3)) / w}%`;
      ring.style.top = `${(100 * (top - 3)) / t}%`;
      ring.style.width = `${(100 * (width + 6)) / w}%`;
      ring.style.height = `${(100 * (height + 6)) / t}%`;
    }
    if (mine && state) mine.show(state, size());
  }
  image.addEventListener("load", frame);

  return {
    node: h("section", { class: "column", "data-person": person ? "yes" : null, "data-seat": seat },
      h("div", { class: "row" }, h("h2", {}, title), badge), place,
      h("div", { class: person ? null : "sight" }, h("div", { class: "pan" }, screen), mine?.line, mine?.bar, h("div", {}, what, end, held, now)), below),
    hands: mine,
    reply(told) {
      if (state?.phase === "thinking" && told.turn === state.turns) now.replaceChildren(h("h3", {}, "Reply"), h("pre", { class: "reply growing" }, told.reply));
    },
    show(next) {
      state = next;
      const turn = next.turn_list.at(-1);
      const ended = { passed: "passed", failed: "failed" }[next.outcome] || "no verdict";
      badge.textContent = next.phase === "ended" ? ended : person && next.phase === "thinking" ? "your turn" : PHASES[next.phase] || next.phase;
      badge.className = `badge ${next.phase === "ended" ? (next.outcome === "passed" ? "passed" : next.outcome === "failed" ? "failed" : "none") : "plain"}`;
      if (next.pictures !== pictures || image.dataset.id !== next.id) {
        pictures = next.pictures;
        image.dataset.id = next.id;
        if (pictures > 0) image.src = `/live/picture?${new URLSearchParams({ id: next.id, stamp: `${next.turns}-${pictures}` })}`;
      }
      image.alt = turn ? `The page ${turn.title || turn.url}, as it is now` : "";
      frame();
      place.replaceChildren(...(turn ? [h("b", {}, turn.title || "untitled"), ` ${turn.url}`] : []));
      const key = JSON.stringify([next.id, next.turns, next.phase]);
      held.replaceChildren(...[checks(next)].filter(Boolean));
      if (key === drawn || !turn) return;
      drawn = key;
      const replied = next.phase !== "thinking" && next.phase !== "opening";
      what.hidden = !replied;
      what.textContent = turn.action;
      what.className = `action${turn.parsed ? "" : " odd"}`;
      end.replaceChildren(...(next.phase === "ended" ? [verdict(next, person)] : []));
      if (replied) now.replaceChildren(h("h3", {}, "Reply"), replyPart(turn));
      else now.replaceChildren(...(person ? [] : [h("h3", {}, "Reply"), h("pre", { class: "reply growing" }, "…")]));
      const shown = { ...next, intent: next.task.intent, placeholder: next.placeholder, live: true };
      const parts = person ? [] : [promptPart(shown, next.turn_list.length - 1)];
      if (next.phase === "ended" && next.results.length) parts.push(resultsPart({ ...next, second: null, evidence: next.evidence, checks: null }));
      below.replaceChildren(...parts);
    },
  };
}

export function liveView(state, parameters, main) {
  let asked = parameters, source = null, timer = 0, columns = new Map(), order = [];
  const note = h("p", { class: "warn", role: "alert", hidden: true });
  const tell = (text) => { note.textContent = text; note.hidden = !text; };
  const heading = h("h1", { tabindex: "-1" }, "Live");
  const user = h("p", { class: "soft" });
  const stage = h("div", { class: "columns" });
  const chooser = h("div", { class: "chooser" });

  function lay(ids, seats) {
    if (JSON.stringify(ids) === JSON.stringify(order)) return;
    order = ids;
    delete stage.dataset.waits;
    columns = new Map(ids.map((id, place) => [id, column(seats?.[place]?.title || "", Boolean(seats?.[place]?.person), place, tell)]));
    stage.className = ids.length > 1 ? "columns two" : "columns one";
    stage.replaceChildren(...[...columns.values()].map((one) => one.node));
  }

  function programme(told) {
    state.title = { watch: "Watch", record: "Record", demo: "Demo" }[told.kind] || "Live";
    heading.textContent = told.task ? told.task.intent : state.title;
    user.textContent = [told.task?.id, told.task?.user && `logged in as ${told.task.user}`, told.doing].filter(Boolean).join(" · ");
    document.title = `${state.title}${told.task ? `: ${told.task.intent}` : ""} · clickgrad`;
    lay(told.ids, told.seats);
    const play = (id) => wish({ want: "play", task: id }).then(tell);
    if (!told.ids.length && stage.dataset.waits !== told.kind + told.doing) {
      stage.dataset.waits = told.kind + told.doing;
      stage.className = "waits";
      stage.replaceChildren(...(told.kind === "record" && !told.task && told.tasks.length ? offer(told.tasks, play) : [h("div", { class: "screen live blank" })]));
    }
    if (!told.tasks.length || chooser.dataset.count === String(told.tasks.length)) return;
    chooser.dataset.count = String(told.tasks.length);
    const list = h("datalist", { id: "stage-tasks" }, told.tasks.map((task) => h("option", { value: task.id }, task.intent)));
    const field = h("input", { id: "stage-task", list: "stage-tasks", placeholder: "A task, by its id or its words", "aria-label": "Task" });
    chooser.replaceChildren(h("form", { onsubmit: (event) => { event.preventDefault(); play(field.value); } }, field, list,
      h("button", { type: "submit", id: "play" }, "Play this task"),
      h("button", { type: "button", id: "another", onclick: () => play(told.tasks[Math.floor(Math.random() * told.tasks.length)].id) }, "Any other")));
  }

  function follow(ids) {
    source?.close();
    source = new EventSource(`/live/stream?${new URLSearchParams(ids.map((id) => ["id", id]))}`);
    source.addEventListener("studio", (event) => programme(JSON.parse(event.data)));
    source.addEventListener("state", (event) => {
      const next = JSON.parse(event.data);
      if (ids.length && !columns.has(next.id)) return;
      const one = columns.get(next.id);
      if (!one) return;
      if (ids.length) {
        heading.textContent = next.task.intent;
        user.textContent = [next.episode, next.task.user && `logged in as ${next.task.user}`].filter(Boolean).join(" · ");
        one.node.querySelector("h2").textContent = next.policy;
      }
      if (next.phase === "thinking") tell("");
      one.show(next);
    });
    source.addEventListener("now", (event) => {
      const told = JSON.parse(event.data);
      columns.get(told.id)?.reply(told);
    });
  }

  async function list() {
    const { episodes } = await ask("/api/live");
    heading.textContent = "Running episodes";
    document.title = "Live · clickgrad";
    user.textContent = episodes.length ? "Choose one to watch it." : "";
    const card = (one) => h("a", { class: "card live-card", href: link("live", { a: one.id }), "data-id": one.id },
      one.pictures ? h("img", { alt: "", src: `/live/picture?${new URLSearchParams({ id: one.id, stamp: `${one.turns}-${one.pictures}` })}` }) : null,
      h("b", {}, one.task.intent), h("span", { class: "soft small" }, `${one.policy} · turn ${one.turns} · ${one.phase === "ended" ? one.outcome : PHASES[one.phase] || one.phase}`));
    stage.className = "live-cards";
    stage.replaceChildren(...(episodes.length ? episodes.map(card)
      : [h("div", { class: "empty" }, h("p", {}, "Nothing is being played just now. Episodes of a run that trains or evaluates appear here with their next turn."),
        h("p", {}, "To see an agent at once: ", h("code", { class: "mono" }, "clickgrad demo")))]));
    timer = setTimeout(() => list().catch(() => {}), LIST_MS);
  }

  function open() {
    const ids = [asked.a, asked.b].filter(Boolean);
    main.replaceChildren(heading, user, note, stage, chooser);
    order = [];
    if (ids.length) {
      lay(ids, ids.map(() => ({ title: "", person: false })));
      follow(ids);
    } else if (state.studio) follow([]);
    else return list();
    return null;
  }

  function close() {
    source?.close();
    clearTimeout(timer);
  }

  return {
    open,
    close,
    update(next) { close(); asked = next; return open(); },
    key(event) {
      const mine = [...columns.values()].find((one) => one.hands)?.hands;
      return mine ? mine.key(event) : false;
    },
    travel(direction) {
      const mine = [...columns.values()].find((one) => one.hands)?.hands;
      mine?.travel(direction);
      return Boolean(mine);
    },
  };
}
