// What can be seen and acted on in the viewport, as JSON. Runs in the page; argument: the symbol key that holds the
// element references until the next observation. Returns {url, title, above, below, items}, items in DOM order:
// {text, tag} for static text, {id, role, tag, type, name, placeholder, value, options, states, box} for controls.
(key) => {
  const TEXT_LIMIT = 500;
  const MIN_PX = 2; // smaller things are there for screen readers, not for eyes
  const SKIPPED = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "HEAD", "DATALIST", "IFRAME", "OBJECT", "CANVAS",
    "VIDEO", "AUDIO", "OPTION", "svg"]);
  const ROLES = new Set(["button", "link", "checkbox", "radio", "tab", "menuitem", "menuitemcheckbox", "menuitemradio",
    "option", "switch", "combobox", "searchbox", "textbox", "slider", "treeitem"]);
  const INPUT_ROLES = {
    button: "button", submit: "button", reset: "button", image: "button", checkbox: "checkbox", radio: "radio",
    range: "slider", file: "file",
  };
  const FORMATS = { date: "YYYY-MM-DD", time: "HH:MM", month: "YYYY-MM", week: "YYYY-Www", "datetime-local": "YYYY-MM-DDTHH:MM" };
  const NATIVE = "a[href],button,input:not([type=hidden]),select,textarea,summary,[contenteditable=''],[contenteditable=true]";
  const ACTIVE = NATIVE + ",[onclick]," + [...ROLES].map((role) => `[role=${role}]`).join(",");

  const refs = [];
  const items = [];
  const range = document.createRange();
  const viewport = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };

  const tidy = (text) => (text || "").replace(/\s+/g, " ").trim();
  const cut = (text) => (text.length > TEXT_LIMIT ? text.slice(0, TEXT_LIMIT) + "…" : text);
  const intersect = (a, b) => ({
    left: Math.max(a.left, b.left), top: Math.max(a.top, b.top),
    right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom),
  });
  const overlaps = (a, b) => {
    const both = intersect(a, b);
    return both.right - both.left >= MIN_PX && both.bottom - both.top >= MIN_PX;
  };
  const childrenOf = (el) => {
    if (el.shadowRoot) return el.shadowRoot.childNodes;
    if (el.tagName === "SLOT" && el.assignedNodes().length) return el.assignedNodes();
    return el.childNodes;
  };

  // --- static text: the pieces of one block become one line ---

  const NONE = 0, CELL = 1, LINE = 2;
  let line = "", lineTag = "p", boundary = NONE;
  const flush = () => {
    const text = cut(tidy(line));
    if (/[^\s,.;:|·•-]/.test(text)) items.push({ text, tag: lineTag });
    line = "";
    boundary = NONE;
  };
  const separate = (strength) => { boundary = Math.max(boundary, strength); };
  const addText = (text, tag) => {
    if (!text.trim()) {
      if (boundary === NONE && line) line += " ";
      return;
    }
    if (boundary === LINE) flush();
    else if (boundary === CELL && line.trim()) line = line.trimEnd() + (/[\p{L}\p{N})%"'”’*★☆…]\s*$/u.test(line) ? ", " : " ");
    boundary = NONE;
    if (!line.trim()) lineTag = tag;
    line += text;
  };
  const isBlock = (display) => !/^(inline|contents|none|ruby)/.test(display);
  const isLeafBlock = (el) => [...el.children].every((child) => !isBlock(getComputedStyle(child).display));
  const isOnlyChild = (el) => {
    const parent = el.parentNode;
    return parent && parent.children && parent.children.length === 1 && tidy(parent.textContent) === tidy(el.textContent);
  };
  const strengthOf = (el, style, laysOutCells) => {
    if (el.tagName === "BR") return CELL;
    if (/^inline-/.test(style.display) || style.display === "table-cell") return CELL;
    if (!isBlock(style.display)) return NONE;
    if (isOnlyChild(el)) return NONE;
    if ((laysOutCells || el.tagName === "DD") && isLeafBlock(el)) return CELL;
    return LINE;
  };

  // --- controls ---

  const roleOf = (el, style, parentPointer) => {
    const role = el.getAttribute("role");
    if (el.tagName === "INPUT") return el.type === "hidden" ? "" : INPUT_ROLES[el.type] || "textbox";
    if (el.tagName === "SELECT") return "select";
    if (el.tagName === "TEXTAREA" || (el.isContentEditable && !el.parentElement?.isContentEditable)) return "textbox";
    if (ROLES.has(role)) return role === "searchbox" ? "textbox" : role;
    if (el.tagName === "A" && el.hasAttribute("href")) return "link";
    if (el.tagName === "BUTTON" || el.tagName === "SUMMARY") return "button";
    if (el === document.body || el === document.documentElement || el.tagName === "LABEL") return "";
    if (el.hasAttribute("onclick")) return "button";
    // A listener added by script leaves no trace in the DOM, but the hand over the element does.
    if (style.cursor === "pointer" && !parentPointer && !el.querySelector(ACTIVE) && tidy(el.textContent)) return "button";
    return "";
  };
  const textOf = (el) => tidy((el.innerText ?? el.textContent ?? "").replace(/\s*\n\s*/g, ", "));
  const fieldLabel = (el) => {
    const ids = tidy(el.getAttribute("aria-labelledby"));
    const named = ids && tidy(ids.split(" ").map((id) => document.getElementById(id)?.textContent || "").join(" "));
    return named || tidy(el.getAttribute("aria-label"));
  };
  const labelText = (label) => {
    let text = "";
    const collect = (node) => {
      if (node.nodeType === 3) text += node.data;
      else if (node.nodeType === 1 && !node.matches("select,textarea,button,script,style")) {
        node.childNodes.forEach(collect);
        text += " ";
      }
    };
    collect(label);
    return tidy(text).replace(/\s*[:*]+$/, "");
  };
  const ownLabel = (el) => (fieldLabel(el) ? null : [...(el.labels || [])].find(labelText) || null);
  const imageText = (el) => tidy([...el.querySelectorAll("img[alt],svg title")].map((i) => i.alt || i.textContent).join(" "));
  const nameOf = (el, role) => {
    const spare = () => tidy(el.getAttribute("title")) || tidy(el.getAttribute("alt"));
    if (el.matches("input,select,textarea") || (role === "textbox" && el.isContentEditable)) {
      if (role === "button") return tidy(el.value) || fieldLabel(el) || spare() || (el.type === "reset" ? "Reset" : "Submit");
      const label = ownLabel(el);
      return fieldLabel(el) || (label && labelText(label)) || tidy(el.getAttribute("placeholder")) || spare() || tidy(el.getAttribute("name"));
    }
    const text = textOf(el);
    return /[\p{L}\p{N}]/u.test(text) ? text : fieldLabel(el) || spare() || imageText(el) || text;
  };
  const optionText = (option) => tidy(option.label || option.textContent);
  const valueOf = (el, role) => {
    if (role === "select") return [...el.selectedOptions].map(optionText).join(", ");
    if (el.type === "password") return "*".repeat(el.value.length);
    if (role === "file") return [...el.files].map((file) => file.name).join(", ");
    if (/^(checkbox|radio|switch|menuitemcheckbox|menuitemradio)$/.test(role)) {
      const on = "checked" in el ? el.checked : el.getAttribute("aria-checked") === "true";
      return on ? "on" : "off";
    }
    if (role === "button") return "";
    if (el.isContentEditable) return textOf(el);
    return "value" in el && typeof el.value === "string" ? el.value : tidy(el.getAttribute("aria-valuenow"));
  };
  const statesOf = (el) => {
    const states = [];
    const aria = (name) => el.getAttribute("aria-" + name);
    if (el.matches(":disabled") || aria("disabled") === "true" || el.closest("[inert]")) states.push("disabled");
    if (el.readOnly && !/^(checkbox|radio|range|file|color)$/.test(el.type)) states.push("read-only");
    if (FORMATS[el.type] && !el.value) states.push(FORMATS[el.type]);
    if (aria("selected") === "true") states.push("selected");
    if (aria("pressed") === "true") states.push("pressed");
    if (aria("current") && aria("current") !== "false") states.push("current");
    const open = el.tagName === "SUMMARY" ? String(el.parentElement?.open === true) : aria("expanded");
    if (open === "true") states.push("expanded");
    if (open === "false") states.push("collapsed");
    return states;
  };
  const rectOf = (el) => {
    const rect = el.getBoundingClientRect();
    if ((rect.width && rect.height) || !el.firstElementChild) return rect;
    return el.firstElementChild.getBoundingClientRect();
  };
  const boxOf = (el) => {
    const rect = rectOf(el);
    return [rect.left, rect.top, rect.width, rect.height].map(Math.round);
  };
  const isShown = (el, style, clip) =>
    style.visibility === "visible" && style.opacity !== "0" && overlaps(rectOf(el), clip);
  // A styled checkbox is often invisible itself and clicked through its label.
  const standIn = (el) => {
    if (!/^(checkbox|radio|file)$/.test(el.type)) return null;
    return [...(el.labels || [])].find((label) => isShown(label, getComputedStyle(label), viewport)) || null;
  };
  const emit = (el, role, target) => {
    flush();
    const id = refs.push({ el, target, role }) - 1;
    items.push({
      id, role, tag: el.tagName.toLowerCase(), type: el.tagName === "INPUT" ? el.type : "",
      name: cut(nameOf(el, role)), placeholder: cut(tidy(el.getAttribute("placeholder"))), value: cut(tidy(valueOf(el, role))),
      options: role === "select" ? [...el.options].map((option) => cut(optionText(option))) : [],
      states: statesOf(el),
      box: boxOf(target),
    });
  };
  const namesShownField = (label) => {
    const field = label.control;
    if (!field || ownLabel(field) !== label) return false;
    return isShown(field, getComputedStyle(field), viewport) || standIn(field) !== null;
  };

  // --- the walk ---

  const visitText = (node, state) => {
    if (state.mute || !state.visible) return;
    if (node.data.trim()) {
      range.selectNodeContents(node);
      if (!overlaps(range.getBoundingClientRect(), state.clip)) return;
    }
    addText(node.data, state.tag);
  };
  const visitControl = (el, role, style, state) => {
    const shown = isShown(el, style, state.clip);
    const target = shown ? el : standIn(el);
    if (target) emit(el, role, target);
    // A container that is clickable as a whole keeps its inner controls reachable; its text is already in its name.
    if (!el.matches("select,textarea,input") && !el.isContentEditable && el.querySelector(ACTIVE)) {
      visitChildren(el, style, { ...state, mute: shown });
    }
  };
  const visitChildren = (el, style, state) => {
    const heading = /^H[1-6]$/.test(el.tagName) ? el.tagName.toLowerCase() : state.tag;
    const clips = style.overflow !== "visible" && el !== document.body && el !== document.documentElement && style.display !== "inline";
    const inner = {
      ...state,
      tag: heading,
      clip: clips ? intersect(state.clip, el.getBoundingClientRect()) : state.clip,
      visible: style.visibility === "visible",
      pointer: style.cursor === "pointer",
      cells: /grid|table-row$/.test(style.display) || (/flex/.test(style.display) && !/column/.test(style.flexDirection)),
      mute: state.mute || (el.tagName === "LABEL" && namesShownField(el)),
    };
    const folded = el.tagName === "DETAILS" && !el.open;
    for (const child of childrenOf(el)) if (!folded || child.tagName === "SUMMARY") visit(child, inner);
  };
  const visit = (node, state) => {
    if (node.nodeType === 3) return visitText(node, state);
    if (node.nodeType !== 1 || SKIPPED.has(node.tagName)) return;
    const style = getComputedStyle(node);
    if (style.display === "none" || style.contentVisibility === "hidden") return;
    const strength = strengthOf(node, style, state.cells);
    separate(strength);
    const role = roleOf(node, style, state.pointer);
    if (role) visitControl(node, role, style, state);
    else if (style.opacity !== "0" || node.querySelector("input")) visitChildren(node, style, { ...state, mute: state.mute || style.opacity === "0" });
    separate(strength);
  };

  if (document.body) {
    visit(document.body, { clip: viewport, visible: true, pointer: false, cells: false, mute: false, tag: "p" });
    flush();
  }
  Object.defineProperty(window, Symbol.for(key), { value: refs, enumerable: false, configurable: true });
  const scroller = document.scrollingElement || document.documentElement;
  return JSON.stringify({
    url: location.href, title: tidy(document.title), items,
    above: scroller.scrollTop > 1,
    below: scroller.scrollTop + innerHeight < scroller.scrollHeight - 1 && getComputedStyle(scroller).overflowY !== "hidden",
  });
}
