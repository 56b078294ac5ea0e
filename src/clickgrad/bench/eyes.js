// For the bench alone, in the page's isolated world: which elements that can be seen might be acted on by what others say
// (the accessibility tree, whose nodes are given, tags, listeners, the hand over them), which of them were told, and why the rest was not.
// Takes what is kept of the last observation; returns {found, told, differences}.
(nodes, reach, kept) => {
  const { dom, tidy } = reach;
  const ROLES = /^(button|link|checkbox|radio|tab|menuitem|menuitemcheckbox|menuitemradio|option|switch|combobox|searchbox|textbox|slider|spinbutton|treeitem)$/;
  const NATIVE = "a[href],button,input:not([type=hidden]),select,textarea,summary,[contenteditable=true],[contenteditable=''],[contenteditable=plaintext-only],video[controls],audio[controls]";
  const told = new Set(kept.refs.flatMap(({ el, target }) => [el, target]));
  const all = [];
  const walk = (root) => {
    for (const el of dom.nodeType(root) === 9 ? dom.queryAllOf(root, "*") : root.querySelectorAll("*")) {
      all.push(el);
      const inner = dom.shadowRoot(el);
      if (inner) walk(inner);
    }
  };
  walk(document);
  const isSeen = (el) => {
    if (!el.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false;
    const rect = dom.getBoundingClientRect(el);
    if (rect.width < 2 || rect.height < 2) return false;
    return Boolean(reach.pointOn(el, el, reach.viewOf(window), reach.placeOf(window)));
  };
  const saysWhy = (el) => {
    const role = dom.getAttribute(el, "role"), style = getComputedStyle(el), parent = dom.parentElement(el);
    if (dom.closest(el, "[aria-hidden=true]")) return "";
    if (nodes.includes(el)) return "accessibility";
    if (ROLES.test(role || "")) return "role";
    if (dom.matches(el, NATIVE)) return "tag";
    if (dom.tagName(el) === "LABEL") return "";
    if (kept.heard.has(el)) return "listener";
    if (style.cursor === "pointer" && !(parent && getComputedStyle(parent).cursor === "pointer")) return "pointer";
    return "";
  };
  const around = (el, set) => { for (let at = dom.parentElement(el); at; at = dom.parentElement(at)) if (set.has(at)) return at; return null; };
  const within = (el) => [...told].filter((one) => dom.contains(el, one));
  const area = (el) => { const { width, height } = dom.getBoundingClientRect(el); return width * height; };
  const showsNothing = (el) => {
    const { backgroundColor, backgroundImage, borderTopWidth } = getComputedStyle(el);
    const isPainted = backgroundImage !== "none" || parseFloat(borderTopWidth) > 0 || !/^rgba\(0, 0, 0, 0\)/.test(backgroundColor);
    return !isPainted && !tidy(dom.textContent(el)) && !dom.firstElementChild(el) && !dom.matches(el, "img,svg,canvas,input");
  };
  // Why an element that might be acted on was not told, where that is right; "" where it is a miss.
  const excuse = (el, why) => {
    const inner = within(el), outer = around(el, told);
    if (inner.length && !/^(tag|role|accessibility)$/.test(why)) return inner.length === 1 ? "wraps the one that was told" : "holds those that were told, and hears or hands on their clicks";
    if (outer && (dom.matches(outer, "a,button,[role],label,option") || why === "pointer")) return "is a part of what was told";
    if (outer && !tidy(dom.textContent(el))) return "is a part of what was told";
    if (area(el) > 0.5 * innerWidth * innerHeight) return "covers the page and has no name";
    if (showsNothing(el)) return "nothing of it can be seen";
    if (dom.tagName(el) === "OPTION") return "is an option of a select, told with it";
    return "";
  };
  const tell = (el) => `${dom.tagName(el).toLowerCase()} ${tidy(dom.textContent(el)).slice(0, 40)}`.trim();
  const differences = [];
  const found = new Set();
  for (const el of all) {
    const why = saysWhy(el);
    if (!why || dom.tagName(el) === "OPTION" || reach.isRoot(el) || !isSeen(el)) continue;
    if (told.has(el)) { found.add(el); continue; }
    const label = el.labels && [...el.labels].find((one) => told.has(one));
    if (label) { found.add(el); continue; }
    const reason = excuse(el, why);
    differences.push({ kind: reason ? "left out" : "missed", what: tell(el), why, reason });
  }
  for (const { el, target, role } of kept.refs) {
    const isKnown = found.has(el) || saysWhy(el) || saysWhy(target) || dom.matches(el, "[draggable=true],[tabindex],[data-action],[data-toggle],[data-bs-toggle],[data-href],label") ||
      kept.dragged.has(el) || kept.dropped.has(el) || /grab|move/.test(getComputedStyle(el).cursor) || around(el, kept.heard) || getComputedStyle(el).cursor === "pointer";
    if (!isKnown) differences.push({ kind: "told besides", what: `${role} ${tell(el)}`, why: "", reason: "nobody else says that it can be acted on" });
  }
  return JSON.stringify({ found: found.size, told: kept.refs.length, differences });
}
