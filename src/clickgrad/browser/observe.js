// What can be seen and acted on in the viewport, as JSON, frames of the same origin included. Arguments: {budget_ms}, after
// which the rest of an endless page is left out, what reach.js makes, and where the elements are kept until the next time.
// Returns {url, title, above, below, items}, items in DOM order: {text, tag} for static text, {text, tag, ours} for words
// of our own, {id, role, tag, type, name, placeholder, value, options, states, box} for controls.
({ budget_ms }, reach, kept) => {
  const { dom } = reach;
  const TEXT_LIMIT = 500;
  const ITEM_LIMIT = 10000;
  const OPTION_LIMIT = 5000;
  const MIN_PX = 2; // smaller things are there for screen readers, not for eyes
  const MIN_PANE_PX = 40; // smaller ones scroll by accident
  const MIN_FRAME_PX = 20; // smaller frames count visitors
  const UNSEEN = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "HEAD", "DATALIST", "OPTION"]);
  const UNREAD = new Set(["OBJECT", "CANVAS", "VIDEO", "AUDIO", "svg"]);
  const FRAMES = new Set(["IFRAME", "FRAME"]);
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
  const range = dom.createRange(document);
  const deadline = performance.now() + budget_ms;
  let visited = 0, spent = false;
  const panes = []; // what scrolls in the page, as [element, the area that can be seen]
  // The document being walked: what of it can be seen, in its own coordinates, and where these lie in the viewport.
  let scene = { clip: reach.viewOf(window), place: reach.placeOf(window) };
  let behindDialog = 0;
  let floating = false; // whether anything is placed out of the flow, so that it may cover anything else
  const marks = []; // what is left to do when that is known

  const tidy = (text) => (text || "").replace(/\s+/g, " ").trim();
  const cut = (text) => (text.length > TEXT_LIMIT ? reach.cut(text, TEXT_LIMIT) + "…" : text);
  const overlaps = (a, b, least = MIN_PX) => {
    const both = reach.intersect(a, b);
    return both.right - both.left >= least && both.bottom - both.top >= least;
  };
  const isRoot = (el) => el === dom.body(dom.ownerDocument(el)) || el === dom.documentElement(dom.ownerDocument(el));
  const childrenOf = (el) => {
    const inner = dom.shadowRoot(el);
    if (inner) return inner.childNodes;
    if (dom.tagName(el) === "SLOT" && el.assignedNodes().length) return el.assignedNodes();
    return dom.childNodes(el);
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
  const isLeafBlock = (el) => [...dom.children(el)].every((child) => !isBlock(getComputedStyle(child).display));
  const isOnlyChild = (el) => {
    const parent = dom.parentNode(el);
    const children = parent && (dom.nodeType(parent) === 1 ? dom.children(parent) : parent.children);
    return children && children.length === 1 && tidy(dom.textContent(parent)) === tidy(dom.textContent(el));
  };
  const strengthOf = (el, style, laysOutCells) => {
    if (dom.tagName(el) === "BR") return CELL;
    if (/^inline-/.test(style.display) || style.display === "table-cell") return CELL;
    if (!isBlock(style.display)) return NONE;
    if (isOnlyChild(el)) return NONE;
    if ((laysOutCells || dom.tagName(el) === "DD") && isLeafBlock(el)) return CELL;
    return LINE;
  };

  // --- controls ---

  const roleOf = (el, style, parentPointer) => {
    const tag = dom.tagName(el), role = dom.getAttribute(el, "role"), parent = dom.parentElement(el);
    if (tag === "INPUT") return el.type === "hidden" ? "" : INPUT_ROLES[el.type] || "textbox";
    if (tag === "SELECT") return "select";
    if (tag === "TEXTAREA" || (dom.isContentEditable(el) && !(parent && dom.isContentEditable(parent)))) return "textbox";
    if (ROLES.has(role)) return role === "searchbox" ? "textbox" : role;
    if (tag === "A" && el.hasAttribute("href")) return "link";
    if (tag === "BUTTON" || tag === "SUMMARY") return "button";
    if (isRoot(el) || tag === "LABEL") return "";
    if (dom.hasAttribute(el, "onclick")) return "button";
    // A listener added by script leaves no trace in the DOM, but the hand over the element does.
    if (style.cursor === "pointer" && !parentPointer && !dom.querySelector(el, ACTIVE) && tidy(dom.textContent(el))) return "button";
    return "";
  };
  const textOf = (el) => tidy((dom.innerText(el) ?? dom.textContent(el) ?? "").replace(/\s*\n\s*/g, ", "));
  const textIn = (el) => (el ? dom.textContent(el) : "") || "";
  const fieldLabel = (el) => {
    const ids = tidy(dom.getAttribute(el, "aria-labelledby"));
    const named = ids && tidy(ids.split(" ").map((id) => textIn(dom.byId(dom.getRootNode(el), id))).join(" "));
    return named || tidy(dom.getAttribute(el, "aria-label"));
  };
  const labelText = (label) => {
    let text = "";
    const collect = (node) => {
      if (dom.nodeType(node) === 3) text += node.data;
      else if (dom.nodeType(node) === 1 && !dom.matches(node, "select,textarea,button,script,style")) {
        dom.childNodes(node).forEach(collect);
        text += " ";
      }
    };
    collect(label);
    return tidy(text).replace(/\s*[:*]+$/, "");
  };
  const labelsOf = (el) => (dom.tagName(el) === "FORM" ? [] : [...(el.labels || [])]);
  const ownLabel = (el) => (fieldLabel(el) ? null : labelsOf(el).find(labelText) || null);
  const imageText = (el) => tidy([...dom.querySelectorAll(el, "img[alt],svg title")].map((i) => i.alt || i.textContent).join(" "));
  const nameOf = (el, role) => {
    const spare = () => tidy(dom.getAttribute(el, "title")) || tidy(dom.getAttribute(el, "alt"));
    if (dom.matches(el, "input,select,textarea") || (role === "textbox" && dom.isContentEditable(el))) {
      if (role === "button") return tidy(el.value) || fieldLabel(el) || spare() || (el.type === "reset" ? "Reset" : "Submit");
      const label = ownLabel(el);
      return fieldLabel(el) || (label && labelText(label)) || tidy(dom.getAttribute(el, "placeholder")) || spare() || tidy(dom.getAttribute(el, "name"));
    }
    if (role === "combobox" && fieldLabel(el)) return fieldLabel(el); // its text is what is chosen
    const text = textOf(el);
    return /[\p{L}\p{N}]/u.test(text) ? text : fieldLabel(el) || spare() || imageText(el) || text;
  };
  const optionText = (option) => tidy(option.label || option.textContent);
  const valueOf = (el, role) => {
    if (role === "select") return [...el.selectedOptions].map(optionText).join(", ");
    if (el.type === "password") return "*".repeat(el.value.length);
    if (role === "file") return [...el.files].map((file) => file.name).join(", ");
    if (/^(checkbox|radio|switch|menuitemcheckbox|menuitemradio)$/.test(role)) {
      const on = "checked" in el ? el.checked : dom.getAttribute(el, "aria-checked") === "true";
      return on ? "on" : "off";
    }
    if (role === "button") return "";
    if (role === "combobox" && fieldLabel(el) && !("value" in el)) return textOf(el);
    if (dom.isContentEditable(el)) return textOf(el);
    return "value" in el && typeof el.value === "string" ? el.value : tidy(dom.getAttribute(el, "aria-valuenow"));
  };
  const statesOf = (el) => {
    const states = [];
    const aria = (name) => dom.getAttribute(el, "aria-" + name);
    if (dom.matches(el, ":disabled") || aria("disabled") === "true" || dom.closest(el, "[inert]")) states.push("disabled");
    if (el.readOnly && !/^(checkbox|radio|range|file|color)$/.test(el.type)) states.push("read-only");
    if (FORMATS[el.type] && !el.value) states.push(FORMATS[el.type]);
    if (aria("selected") === "true") states.push("selected");
    if (aria("pressed") === "true") states.push("pressed");
    if (aria("current") && aria("current") !== "false") states.push("current");
    const open = dom.tagName(el) === "SUMMARY" ? String(el.parentElement?.open === true) : aria("expanded");
    if (open === "true") states.push("expanded");
    if (open === "false") states.push("collapsed");
    return states;
  };
  const rectOf = (el) => {
    const rect = dom.getBoundingClientRect(el);
    const child = rect.width && rect.height ? null : dom.firstElementChild(el);
    return child ? dom.getBoundingClientRect(child) : rect;
  };
  const boxOf = (el) => {
    const rect = rectOf(el);
    const { x, y, scale } = scene.place;
    return [x + rect.left * scale, y + rect.top * scale, rect.width * scale, rect.height * scale].map(Math.round);
  };
  const isShown = (el, style, clip) =>
    style.visibility === "visible" && style.opacity !== "0" && overlaps(rectOf(el), clip);
  // A styled checkbox is often invisible itself and clicked through its label.
  const standIn = (el) => {
    if (!/^(checkbox|radio|file)$/.test(el.type)) return null;
    return labelsOf(el).find((label) => isShown(label, getComputedStyle(label), scene.clip)) || null;
  };
  const emit = (el, role, target, state) => {
    const states = statesOf(el);
    const clip = target === el ? state.clip : scene.clip, { place } = scene;
    if (state.behind && !reach.pointOn(el, target, clip, place)) return void behindDialog++;
    if (!states.includes("disabled")) {
      const mark = () => { if (!reach.pointOn(el, target, clip, place)) states.push("covered"); };
      // What a link paints over its surroundings ends at the nearest positioned ancestor: only there may it cover others.
      if (state.positioned || state.layer) mark();
      else marks.push(mark);
    }
    flush();
    const id = refs.push({ el, target, role }) - 1;
    items.push({
      id, role, tag: dom.tagName(el).toLowerCase(), type: dom.tagName(el) === "INPUT" ? el.type : "",
      name: cut(nameOf(el, role)), placeholder: cut(tidy(dom.getAttribute(el, "placeholder"))), value: cut(tidy(valueOf(el, role))),
      options: role === "select" ? [...el.options].slice(0, OPTION_LIMIT).map((option) => cut(optionText(option))) : [],
      states,
      box: boxOf(target),
    });
  };
  const namesShownField = (label) => {
    const field = label.control;
    if (!field || ownLabel(field) !== label) return false;
    return isShown(field, getComputedStyle(field), scene.clip) || standIn(field) !== null;
  };

  // --- the walk ---

  const isCovered = (rect, parent, clip) => {
    const { left, top, right, bottom } = reach.intersect(rect, clip);
    const { x, y, scale } = scene.place;
    const hit = reach.hitAt(x + ((left + right) / 2) * scale, y + ((top + bottom) / 2) * scale);
    return Boolean(hit && parent) && ![...reach.outwards(parent)].includes(hit) && !dom.contains(parent, hit);
  };
  const visitText = (node, state) => {
    if (state.mute || !state.visible) return;
    if (node.data.trim()) {
      range.selectNodeContents(node);
      const rect = range.getBoundingClientRect();
      if (!overlaps(rect, state.clip)) return;
      if (state.behind && isCovered(rect, dom.parentElement(node), state.clip)) return void behindDialog++;
    }
    addText(node.data, state.tag);
  };
  const visitControl = (el, role, style, state) => {
    const shown = isShown(el, style, state.clip);
    const target = shown ? el : standIn(el);
    if (target) emit(el, role, target, state);
    // A container that is clickable as a whole keeps its inner controls reachable; its text is already in its name.
    if (!dom.matches(el, "select,textarea,input") && !dom.isContentEditable(el) && dom.querySelector(el, ACTIVE)) {
      visitChildren(el, style, { ...state, mute: shown });
    }
  };
  const scrolls = (el) => dom.scrollHeight(el) - dom.clientHeight(el) > 1;
  const rootOf = (one) => dom.scrollingElement(one) || dom.documentElement(one);
  const mayScroll = (one) => {
    if (!rootOf(one)) return false; // a script has opened the document anew and written nothing yet
    const root = dom.documentElement(one), body = dom.body(one);
    const ruling = getComputedStyle(root).overflowY === "visible" && body ? body : root;
    return scrolls(rootOf(one)) && !/hidden|clip/.test(getComputedStyle(ruling).overflowY);
  };
  const addPane = (el, { left, top, right, bottom }) => {
    if (right - left >= MIN_PANE_PX && bottom - top >= MIN_PANE_PX) panes.push([el, (right - left) * (bottom - top)]);
  };
  const visitChildren = (el, style, state) => {
    const tag = dom.tagName(el), heading = /^H[1-6]$/.test(tag) ? tag.toLowerCase() : state.tag;
    const clips = style.overflow !== "visible" && !isRoot(el) && style.display !== "inline";
    const clip = clips ? reach.intersect(state.clip, dom.getBoundingClientRect(el)) : state.clip;
    if (clips && /auto|scroll/.test(style.overflowY) && scrolls(el)) addPane(el, clip);
    const inner = {
      ...state,
      tag: heading,
      clip,
      // What is placed absolutely is clipped only by what it is placed in.
      placed: state.positioned ? clip : state.placed,
      layer: state.layer || state.positioned,
      positioned: false,
      visible: style.visibility === "visible",
      pointer: style.cursor === "pointer",
      cells: /grid|table-row$/.test(style.display) || (/flex/.test(style.display) && !/column/.test(style.flexDirection)),
      mute: state.mute || (tag === "LABEL" && namesShownField(el)),
    };
    const folded = tag === "DETAILS" && !el.open;
    for (const child of childrenOf(el)) if (!folded || (dom.nodeType(child) === 1 && dom.tagName(child) === "SUMMARY")) visit(child, inner);
  };
  const visitDocument = (inner, state) => {
    visit(dom.body(inner), { ...state, clip: scene.clip, placed: scene.clip, pointer: false, cells: false, tag: "p" });
    if (inner !== document && mayScroll(inner)) addPane(rootOf(inner), scene.clip);
  };
  const visitFrame = (frame, style, state) => {
    if (state.mute || !isShown(frame, style, state.clip)) return;
    const inner = frame.contentDocument, outer = scene;
    if (inner && dom.body(inner)) {
      const view = dom.defaultView(inner);
      const content = reach.shift(state.clip, reach.contentOf(frame));
      scene = { clip: reach.intersect(content, reach.viewOf(view)), place: reach.placeOf(view) };
      visitDocument(inner, state);
      scene = outer;
    } else if (!inner && overlaps(frame.getBoundingClientRect(), state.clip, MIN_FRAME_PX)) {
      flush();
      items.push({ text: `frame ${URL.canParse(frame.src) ? new URL(frame.src).host : ""} (cannot be read)`, tag: "p", ours: true });
    }
  };
  const visit = (node, state) => {
    // Every few nodes: asking for the time is not free.
    if (++visited % 64 === 0) spent ||= performance.now() > deadline || items.length > ITEM_LIMIT;
    if (spent) return;
    if (dom.nodeType(node) === 3) return visitText(node, state);
    if (dom.nodeType(node) !== 1) return;
    const tag = dom.tagName(node), isFrame = FRAMES.has(tag);
    if (UNSEEN.has(tag)) return;
    const style = getComputedStyle(node);
    if (UNREAD.has(tag)) {
      floating ||= style.position !== "static";
      return;
    }
    if (style.display === "none" || style.contentVisibility === "hidden") return;
    const strength = isFrame ? LINE : strengthOf(node, style, state.cells);
    separate(strength);
    if (node === modal) state = { ...state, behind: false };
    const { position } = style;
    if (position !== "static") {
      floating ||= position !== "relative";
      state = { ...state, positioned: true, clip: position === "fixed" ? scene.clip : position === "absolute" ? state.placed : state.clip };
    }
    const role = roleOf(node, style, state.pointer);
    if (isFrame) visitFrame(node, style, state);
    else if (role) visitControl(node, role, style, state);
    else if (style.opacity !== "0" || dom.querySelector(node, "input")) visitChildren(node, style, { ...state, mute: state.mute || style.opacity === "0" });
    separate(strength);
  };

  // --- what scrolls: the page, and then the panes in it, such as the one that an app shell has in its place ---

  const findScrollers = () => {
    const page = mayScroll(document) ? [rootOf(document)] : [];
    const inner = panes.sort(([, a], [, b]) => b - a).map(([pane]) => pane);
    return behindDialog ? inner.filter((pane) => dom.contains(modal, pane) || dom.contains(pane, modal)) : [...page, ...inner];
  };

  const modal = [...dom.queryAllOf(document, "dialog:modal,[aria-modal=true]")].filter((el) => isShown(el, getComputedStyle(el), scene.clip)).at(-1);
  if (dom.body(document)) {
    visitDocument(document, { visible: true, mute: false, behind: Boolean(modal), positioned: false, layer: false });
    flush();
    if (floating && !spent) for (const mark of marks) mark();
    if (behindDialog) items.push({ text: "… the rest of the page is behind this dialog", tag: "p", ours: true });
  }
  const scrollers = findScrollers();
  kept.refs = refs;
  kept.scrollers = scrollers;
  return JSON.stringify({
    url: location.href, title: tidy(reach.cut(dom.title(document), TEXT_LIMIT)), items,
    above: scrollers.some((el) => dom.scrollTop(el) > 1),
    below: spent || scrollers.some((el) => dom.scrollTop(el) + dom.clientHeight(el) < dom.scrollHeight(el) - 1),
  });
}
