// The player: one episode turn by turn, or two side by side at the same turn.

import { ask, h, link, outcome, seconds } from "./dom.js";
import { tree } from "./tree.js";

const ROUGH = "The tokenizer is not stored with a run: the reply is cut into as many equal pieces as it has tokens, so colours lie only near their tokens.";

function colour(logprob) {
  // 1 for certain, 0 at a chance of one in a hundred: between the two the eye sees about ten steps.
  const sure = Math.max(0, 1 + logprob / Math.log(100));
  return `hsl(${Math.round(sure * 130)} 75% 50% / ${(0.12 + 0.4 * (1 - sure)).toFixed(2)})`;
}

export function replyPart(turn) {
  const logprobs = turn.logprobs.filter((value) => value !== null);
  const ended = turn.finish === "stop" && logprobs.length > 1;
  const shown = ended ? logprobs.slice(0, -1) : logprobs;
  if (!shown.length || shown.every((value) => value === 0)) return h("pre", { class: "reply" }, turn.reply || "(empty)");
  const letters = [...turn.reply];
  const pieces = shown.map((logprob, place) => {
    const text = letters.slice(Math.round((place * letters.length) / shown.length), Math.round(((place + 1) * letters.length) / shown.length)).join("");
    const piece = h("span", { class: "piece", title: `logprob ${logprob.toFixed(3)}, chance ${Math.exp(logprob).toFixed(3)}` }, text);
    piece.style.background = colour(logprob);
    return piece;
  });
  if (ended) {
    const end = h("span", { class: "piece end", title: `end of the reply: logprob ${logprobs.at(-1).toFixed(3)}` }, "end");
    end.style.background = colour(logprobs.at(-1));
    pieces.push(end);
  }
  const mean = logprobs.reduce((sum, value) => sum + value, 0) / logprobs.length;
  const worst = Math.min(...logprobs);
  return h("div", {}, h("pre", { class: "reply coloured", title: ROUGH }, pieces),
    h("p", { class: "soft small", title: ROUGH }, `${logprobs.length} tokens, mean logprob ${mean.toFixed(3)}, least ${worst.toFixed(2)} · green is sure, red is not; places are approximate`));
}

function picture(episode, turn) {
  if (!turn.screenshot) return null;
  const source = `/screenshot?${new URLSearchParams({ run: episode.run, name: turn.screenshot })}`;
  const image = h("img", { alt: `Screenshot of ${turn.title || turn.url}`, src: source });
  const screen = (...parts) => h("a", { class: "screen", href: source, target: "_blank", rel: "noopener", title: "Open at full size" }, parts);
  const box = turn.element?.box;
  if (!Array.isArray(box) || box.length !== 4) return screen(image);
  const outline = h("span", { class: "outline" });
  image.addEventListener("load", () => {
    const [left, top, width, height] = box;
    outline.style.left = `${(100 * (left - 3)) / image.naturalWidth}%`;
    outline.style.top = `${(100 * (top - 3)) / image.naturalHeight}%`;
    outline.style.width = `${(100 * (width + 6)) / image.naturalWidth}%`;
    outline.style.height = `${(100 * (height + 6)) / image.naturalHeight}%`;
    outline.classList.add("placed");
  });
  return screen(image, outline);
}

export function promptPart(episode, at) {
  const turn = episode.turn_list[at];
  const past = episode.turn_list.slice(0, at).flatMap((before) => [
    h("span", { class: "dropped" }, `${episode.placeholder}\n`),
    h("span", { class: "past" }, `${before.reply}\n`),
  ]);
  const page = turn.lines.map((line, number) => h("span", { class: number === turn.acted_line ? "line acted" : "line" }, `${line}\n`));
  const text = h("pre", { class: "page" }, h("span", { class: "task" }, `Task: ${episode.intent}\n`), past, page);
  return h("details", { class: "block", open: true, "data-block": "page" },
    h("summary", {}, "What the model saw ", h("small", {}, [at && `${at} earlier ${at > 1 ? "pages" : "page"} dropped`, turn.prompt_tokens ? `${turn.prompt_tokens} prompt tokens` : !episode.live && "text only"].filter(Boolean).join(", "))), text);
}

export function resultsPart(episode) {
  const list = (of) => h("ul", { class: "results" }, of.map((result) =>
    h("li", { class: result.passed ? "ok" : "wrong" }, h("b", {}, `${result.check} `), result.reason || (result.passed ? "passed" : "failed"))));
  const second = episode.second;
  return h("details", { class: "block", open: true, "data-block": "verdict" }, h("summary", {}, "Verdict"),
    episode.results.length ? (episode.plainly ? h("details", { "data-block": "rows" }, h("summary", {}, "Rows"), list(episode.results)) : list(episode.results))
      : h("p", { class: "soft" }, episode.error || "No check was made."),
    second && second.after !== second.before
      ? h("div", { class: "warn" }, `Judged again: ${second.before} before, ${second.after} by ${second.checks} checks.`, list(second.results || []))
      : null,
    episode.evidence ? h("details", { "data-block": "evidence" }, h("summary", {}, "Evidence"), h("pre", {}, JSON.stringify(episode.evidence, null, 2))) : null,
    episode.checks ? h("details", { "data-block": "checks" }, h("summary", {}, "Checks"), h("pre", {}, JSON.stringify(episode.checks, null, 2))) : null);
}

function group(episode) {
  if (!episode.members.length) return null;
  const told = (member) => (member.advantage === null ? "–" : (member.advantage > 0 ? "+" : "") + member.advantage.toFixed(2));
  return h("details", { class: "block", open: true, "data-block": "group" },
    h("summary", {}, "Group ", h("small", {}, episode.advantage === null ? "without contrast, or not trained on" : `advantage ${told(episode)}`)),
    h("p", { class: "members" }, episode.members.map((member) =>
      h("a", { class: `member ${member.reward === 1 ? "passed" : member.reward === null ? "none" : "failed"}${member.id === episode.id ? " this" : ""}`,
        href: link("episode", { a: member.id }), title: `reward ${member.reward}` }, told(member)))),
    tree(episode));
}

export function episodeView(state, parameters, main) {
  let asked = parameters;
  let episodes = [];
  let names = "";
  const closed = new Map(); // which blocks the reader has folded, kept from turn to turn

  const at = (episode) => Math.max(0, Math.min(Number(asked.turn) || 0, episode.turn_list.length - 1));
  const longest = () => Math.max(1, ...episodes.map((episode) => episode.turn_list.length));
  const go = (changes) => {
    const next = { ...asked, ...changes };
    for (const name of Object.keys(next)) if (!next[name] && next[name] !== 0) delete next[name];
    location.hash = link("episode", next);
  };
  const turnTo = (turn) => {
    const inside = Math.max(0, Math.min(longest() - 1, turn));
    if (inside === (Number(asked.turn) || 0)) return;
    asked = { ...asked, turn: inside };
    history.replaceState(null, "", link("episode", asked));
    draw();
  };

  function strip(episode) {
    return h("div", { class: "strip" }, episode.turn_list.map((turn, place) =>
      h("button", { type: "button", class: `${place === at(episode) ? "now" : ""}${turn.parsed ? "" : " odd"}`, title: turn.action, onclick: () => turnTo(place) },
        `${place + 1}`)));
  }

  function head(episode, side) {
    const facts = [episode.task, episode.policy, episode.end.replace("_", " "), `${episode.turn_list.length} ${episode.turn_list.length === 1 ? "turn" : "turns"}${episode.expert_turns ? `, expert ${episode.expert_turns}` : ""}`,
      seconds(episode.seconds), episode.step !== null && `step ${episode.step}`, episode.blocked && `${episode.blocked} requests blocked`].filter(Boolean);
    const advantage = episode.advantage === null ? null
      : h("span", { class: "badge plain", title: "(reward - mean) / std of its group" }, `advantage ${episode.advantage > 0 ? "+" : ""}${episode.advantage.toFixed(2)}`);
    return h("div", { class: "head" },
      h("div", { class: "row" }, outcome(episode.reward), advantage, h("span", { class: "soft mono" }, episode.run),
        side === "b" ? h("button", { type: "button", class: "quiet", onclick: () => go({ b: "" }) }, "Close") : null),
      h(side === "b" ? "h2" : "h1", { tabindex: "-1" }, episode.intent || episode.name),
      h("p", { class: "soft" }, facts.join(" · ")),
      episode.plainly ? h("p", { class: "plainly" }, episode.plainly) : null,
      episode.note ? h("p", { class: "warn" }, episode.note) : null,
      episode.error ? h("p", { class: "warn" }, episode.error) : null);
  }

  function body(episode) {
    if (!episode.turn_list.length) return [h("p", { class: "empty" }, "This episode ended before its first turn."), resultsPart(episode)];
    const turn = episode.turn_list[at(episode)];
    const over = (Number(asked.turn) || 0) >= episode.turn_list.length;
    return [
      strip(episode),
      over ? h("p", { class: "soft" }, "ended here") : null,
      h("p", { class: "place mono" }, h("b", {}, turn.title || "untitled"), ` ${turn.url}`),
      h("p", { class: `action${turn.parsed ? "" : " odd"}` }, turn.action),
      h("p", { class: "soft small" }, `model ${seconds(turn.policy_s)}, browser ${seconds(turn.browser_s)}${turn.finish === "length" ? ", reply cut at its limit" : ""}`),
      h("div", { class: "sight" }, picture(episode, turn) || drawing(episode),
        h("details", { class: "block", open: true, "data-block": "reply" }, h("summary", {}, "Reply"), replyPart(turn))),
      resultsPart(episode),
      promptPart(episode, at(episode)),
      group(episode),
    ];
  }

  function drawing(episode) {
    if (!state.draws || !episode.turn_list.some((turn) => !turn.screenshot)) return null;
    const told = h("span", { class: "soft small", role: "status" }, " plays the episode again in a fresh world; takes some seconds");
    const button = h("button", { type: "button", class: "draw", onclick: async () => {
      button.disabled = true;
      told.textContent = " playing it again …";
      const answer = await fetch(`/api/draw?${new URLSearchParams({ id: episode.id })}`, { method: "POST" }).then((got) => got.json()).catch(() => ({ error: "the server is gone" }));
      if (answer.error) told.textContent = ` ${answer.error}`;
      else { names = ""; await update(asked); }
    } }, "Draw its pictures");
    return h("p", { class: "drawing" }, button, told);
  }

  function beside() {
    const [one] = episodes;
    if (!one.others.length && !asked.b) return null;
    const choices = one.others.map((other) => h("option", { value: other.id }, `${other.run} · ${other.reward === 1 ? "passed" : other.reward === null ? "no verdict" : "failed"} · ${other.name.split("/").slice(1).join("/")}`));
    const select = h("select", { "aria-label": "Another episode of this task beside it", id: "beside" },
      h("option", { value: "" }, `Beside: ${choices.length} more of this task`), choices);
    if (asked.b && !one.others.some((other) => other.id === asked.b)) select.append(h("option", { value: asked.b }, `${episodes[1].run} · ${episodes[1].name}`));
    select.value = asked.b || "";
    select.addEventListener("change", () => { select.blur(); go({ b: select.value }); });
    return select;
  }

  function controls() {
    const now = Number(asked.turn) || 0, place = state.ids.indexOf(asked.a);
    const kept = state.kept && state.kept !== asked.a && state.kept !== asked.b;
    return h("div", { class: "controls" },
      h("a", { class: "button", href: state.list || link("list", { run: episodes[0].run }) }, "List"),
      place < 0 ? null : h("button", { type: "button", onclick: () => walk(-1), disabled: place === 0, title: "k" }, "Previous episode"),
      place < 0 ? null : h("button", { type: "button", onclick: () => walk(1), disabled: place >= state.ids.length - 1, title: "j" }, "Next episode"),
      h("span", { class: "turns" },
        h("button", { type: "button", id: "back", onclick: () => turnTo(now - 1), disabled: now === 0, title: "←" }, "←"),
        h("span", { id: "turn" }, `turn ${Math.min(now + 1, longest())} of ${longest()}`),
        h("button", { type: "button", id: "forth", onclick: () => turnTo(now + 1), disabled: now >= longest() - 1, title: "→" }, "→")),
      beside(),
      h("button", { type: "button", id: "keep", title: "c", onclick: keep }, kept ? "Open beside the kept one" : state.kept === asked.a ? "Kept" : "Keep to compare"));
  }

  function keep() {
    if (state.kept && state.kept !== asked.a) {
      const first = state.kept;
      state.kept = null;
      go({ a: first, b: asked.a, turn: 0 });
    } else {
      state.kept = state.kept ? null : asked.a;
      draw();
    }
  }

  function walk(by) {
    const next = state.ids[state.ids.indexOf(asked.a) + by];
    if (next && state.ids.includes(asked.a)) location.hash = link("episode", { a: next });
  }

  function draw() {
    for (const block of main.querySelectorAll("details[data-block]")) closed.set(block.dataset.block, !block.open);
    const columns = episodes.map((episode, place) => h("section", { class: "column", "data-side": "ab"[place] }, head(episode, "ab"[place]), body(episode)));
    main.replaceChildren(controls(), h("div", { class: episodes.length > 1 ? "columns two" : "columns" }, columns));
    for (const block of main.querySelectorAll("details[data-block]")) {
      if (closed.has(block.dataset.block)) block.open = !closed.get(block.dataset.block);
    }
    for (const line of main.querySelectorAll(".page")) {
      const target = line.querySelector(".acted") || line.querySelector(".line");
      if (target) line.scrollTop = target.offsetTop - line.offsetTop - 24;
    }
  }

  async function update(next) {
    asked = next;
    const wanted = [next.a, next.b].filter(Boolean);
    if (wanted.join() !== names) {
      episodes = await Promise.all(wanted.map((id) => ask("/api/episode", { id })));
      names = wanted.join();
      window.scrollTo(0, 0);
    }
    for (const episode of episodes.filter((one) => one.reward === 0 && one.plainly === undefined)) {
      episode.plainly = "";
      ask("/api/told", { id: episode.id }).then((told) => { episode.plainly = told.plainly; if (told.plainly && episodes.includes(episode)) draw(); }).catch(() => {});
    }
    state.run = episodes[0].run;
    state.last = next.a;
    draw();
  }

  return {
    open: () => update(asked),
    update,
    key(event) {
      const now = Number(asked.turn) || 0;
      if (event.key === "ArrowRight") turnTo(now + 1);
      else if (event.key === "ArrowLeft") turnTo(now - 1);
      else if (event.key === "j") walk(1);
      else if (event.key === "k") walk(-1);
      else if (event.key === "c") keep();
      else return false;
      return true;
    },
  };
}
