// What a person does to the picture of a page, as wishes of an agent's actions. The page itself is never here: only its
// picture, and a button for every element that the observation names.

import { h } from "./dom.js";

const TYPED = /^(textbox|searchbox|combobox|spinbutton|slider|date|time|color)/;

export async function wish(body) {
  const answer = await fetch("/live/ask", { method: "POST", body: JSON.stringify(body) });
  const told = await answer.json();
  return told.error || told.told || "";
}

export function hands(onTold) {
  let state = null;
  let busy = false;
  const overlay = h("div", { class: "reach" });
  const line = h("div", { class: "entry", hidden: true });

  async function act(what) {
    if (busy || !state) return;
    busy = true;
    line.hidden = true;
    overlay.classList.add("waiting");
    const told = await wish({ want: "act", turn: state.turns, ...what }).catch(() => "The server is gone.");
    busy = false;
    if (told) overlay.classList.remove("waiting");
    onTold(told);
  }

  function ask(element, label, submit) {
    const field = h("input", { "aria-label": label, value: element.value || "", id: "entry" });
    const form = h("form", { onsubmit: (event) => { event.preventDefault(); submit(field.value, true); } },
      h("label", { for: "entry" }, label), field,
      h("button", { type: "submit" }, "Type and press Enter"),
      h("button", { type: "button", onclick: () => submit(field.value, false) }, "Only type"),
      h("button", { type: "button", class: "quiet", onclick: close }, "Cancel"));
    field.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Escape") close();
      if (event.key === "Tab" && !event.shiftKey && field.value) { event.preventDefault(); submit(field.value, false); }
    });
    line.replaceChildren(form);
    line.hidden = false;
    field.focus();
    field.select();
  }

  function close() {
    line.hidden = true;
    overlay.querySelector("button")?.focus();
  }

  function choose(element) {
    const select = h("select", { id: "entry", "aria-label": element.name }, element.options.map((name) => h("option", { value: name }, name)));
    select.value = element.value || element.options[0] || "";
    line.replaceChildren(h("form", { onsubmit: (event) => { event.preventDefault(); act({ do: "Select Dropdown Option", element: element.id, text: select.value }); } },
      h("label", { for: "entry" }, element.name || "Choose"), select, h("button", { type: "submit" }, "Choose"),
      h("button", { type: "button", class: "quiet", onclick: close }, "Cancel")));
    line.hidden = false;
    select.focus();
  }

  function use(element) {
    if (element.role === "select") return choose(element);
    if (TYPED.test(element.role)) {
      return ask(element, `${element.role} ${element.name}`, (text, enter) => act({ do: enter ? "Search" : "Type", element: element.id, text }));
    }
    return act({ do: "Click", element: element.id });
  }

  function area(element, size) {
    const [left, top, width, height] = element.box;
    const button = h("button", { type: "button", "data-element": element.id, "aria-label": `${element.role} ${element.name} [${element.id}]`, title: `${element.role} ${element.name} [${element.id}]`,
      onclick: (event) => { event.stopPropagation(); use(element); },
      oncontextmenu: (event) => { event.preventDefault(); event.stopPropagation(); act({ do: "Right Click", element: element.id }); } });
    button.addEventListener("keydown", (event) => {
      if (event.key === "h") act({ do: "Hover", element: element.id });
      else if (event.key === "ContextMenu") act({ do: "Right Click", element: element.id });
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    button.style.left = `${(100 * left) / size.width}%`;
    button.style.top = `${(100 * top) / size.height}%`;
    button.style.width = `${(100 * width) / size.width}%`;
    button.style.height = `${(100 * height) / size.height}%`;
    button.style.zIndex = String(100000 - Math.min(99999, Math.round((width * height) / 10)));
    return button;
  }

  overlay.addEventListener("click", () => onTold("There is nothing here that an agent could name. Use something with a frame around it."));
  let wheeled = 0;
  overlay.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (Date.now() - wheeled < 500 || Math.abs(event.deltaY) < 4) return;
    wheeled = Date.now();
    act({ do: event.deltaY > 0 ? "Scroll Down" : "Scroll Up" });
  }, { passive: false });

  // The same actions for everybody, whether there is a mouse or not.
  const buttons = [["Scroll down", "PageDown", { do: "Scroll Down" }], ["Scroll up", "PageUp", { do: "Scroll Up" }],
    ["Back", "Alt+←", { do: "back" }], ["Forward", "Alt+→", { do: "forward" }], ["Press Enter", "", { do: "Press Enter" }], ["Wait", "", { do: "Wait" }]];
  const tabs = h("span", { class: "tabs" });
  const answer = h("input", { id: "answer", placeholder: "Answer, if the task asks for one", "aria-label": "Answer" });
  const finish = h("form", { class: "finish", onsubmit: (event) => { event.preventDefault(); act({ do: "exit", text: answer.value }); } },
    answer, h("button", { type: "submit", class: "strong", id: "finish" }, "I am done"));
  const bar = h("div", { class: "hands" }, h("div", { class: "row" },
    buttons.map(([title, key, what]) => h("button", { type: "button", title: key, onclick: () => act(what) }, title)), tabs), finish);

  return {
    overlay, bar, line,
    show(next, size) {
      const fresh = !state || next.turns !== state.turns || next.id !== state.id;
      state = next;
      const turn = next.turn_list.at(-1);
      bar.hidden = next.phase === "ended";
      overlay.hidden = next.phase !== "thinking" || !size;
      if (overlay.hidden || !turn) return;
      if (!fresh && overlay.dataset.size === JSON.stringify(size)) return;
      overlay.dataset.size = JSON.stringify(size);
      overlay.classList.remove("waiting");
      if (fresh) { line.hidden = true; answer.value = next.turns === 1 ? "" : answer.value; }
      const within = (element) => Array.isArray(element.box) && element.box[2] > 0 && element.box[3] > 0;
      overlay.replaceChildren(...turn.elements.filter(within).map((element) => area(element, size)));
      tabs.replaceChildren(...(turn.tabs.length > 1 ? turn.tabs.map((title, tab) =>
        h("button", { type: "button", disabled: tab === turn.tab, onclick: () => act({ do: "Switch Tab", tab }) }, `Tab ${tab}: ${title}`)) : []));
      if (fresh && (document.activeElement === document.body || document.activeElement === null)) overlay.querySelector("button")?.focus({ preventScroll: true });
    },
    key(event) {
      const what = { PageDown: { do: "Scroll Down" }, PageUp: { do: "Scroll Up" } }[event.key];
      if (!what) return false;
      act(what);
      return true;
    },
    travel: (direction) => act({ do: direction }),
  };
}
