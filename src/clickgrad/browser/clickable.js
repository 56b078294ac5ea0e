// What can be acted on, and as what: by its tag, its role, a listener that the browser knows of, the hand over it, or what
// frameworks write on it. Arguments: what reach.js and describe.js make, and what is kept: `heard` and `dragged` hold the
// elements that listen to clicks and to dragging, told from outside, since our world does not see the page's listeners.
(reach, kept) => {
  const { dom, tidy, saysSomething, labelsOf, fieldLabel } = reach;
  const ROLES = new Set(["button", "link", "checkbox", "radio", "tab", "menuitem", "menuitemcheckbox", "menuitemradio",
    "option", "switch", "combobox", "searchbox", "textbox", "slider", "treeitem", "spinbutton"]);
  // These are things to look at, unless something says that they can be clicked, too.
  const SHOWN_ROLES = new Set(["gridcell", "row", "cell", "columnheader", "rowheader"]);
  // These hold what can be clicked; that they take the keyboard's focus is for the sake of what is in them.
  const HOLDERS = new Set(["dialog", "alertdialog", "group", "region", "listbox", "tabpanel", "grid", "tree", "treegrid", "menu", "menubar",
    "tablist", "toolbar", "document", "application", "log", "feed", "table", "list", "main", "navigation", "form", "radiogroup",
    "heading", "none", "presentation", "status", "alert", "tooltip", "article"]);
  const INPUT_ROLES = {
    button: "button", submit: "button", reset: "button", image: "button", checkbox: "checkbox", radio: "radio",
    range: "slider", file: "file",
  };
  const NATIVE = "a[href],button,input:not([type=hidden]),select,textarea,summary,[contenteditable=''],[contenteditable=true],[contenteditable=plaintext-only]";
  const ACTIVE = NATIVE + ",[onclick]," + [...ROLES].map((role) => `[role=${role}]`).join(",");
  // For frameworks that hear every click at the root of the page.
  const WRITTEN = "[data-action],[data-toggle],[data-bs-toggle],[data-dismiss],[data-bs-dismiss],[data-href],[jsaction],[ng-click]," +
    "[hx-get],[hx-post],[phx-click],[wire\\:click],[x-on\\:click],[\\@click]";
  const GRAPHIC = "svg,img,canvas,i,picture";
  const HELD = 8; // a list that holds more than so many controls is no thing to click by itself
  const MIN_SWATCH_PX = 8;

  const isRoot = (el) => el === dom.body(dom.ownerDocument(el)) || el === dom.documentElement(dom.ownerDocument(el));
  const areaOf = (el) => { const { width, height } = dom.getBoundingClientRect(el); return width * height; };
  const isPlain = (el) => !dom.hasAttribute(el, "role") && /^(DIV|SPAN|UL|OL|TABLE|TBODY|TR|SECTION|MAIN|ARTICLE|NAV|FORM)$/.test(dom.tagName(el));
  const heardIn = (el) => [...kept.heard].filter((one) => one !== el && dom.contains(el, one));
  const activeIn = (el) => [...dom.querySelectorAll(el, ACTIVE)];

  // One listener on a list hears the clicks on all of its entries.
  let delegated = new Set();
  const rowsOf = (el) => {
    const rows = /^(TABLE|TBODY)$/.test(dom.tagName(el)) ? [...dom.querySelectorAll(el, "tr")].filter((row) => dom.querySelector(row, "td")) : [];
    const cells = rows.flatMap((row) => [...dom.children(row)]);
    return cells.length && cells.every((cell) => tidy(dom.textContent(cell)).length < 4) ? cells : rows;
  };
  const entriesOf = (el) => {
    if (rowsOf(el).length) return rowsOf(el);
    const children = [...dom.children(el)];
    const alike = children.length > 1 && children.every((child) => dom.tagName(child) === dom.tagName(children[0]));
    const bare = [...dom.childNodes(el)].every((node) => dom.nodeType(node) !== 3 || !node.data.trim());
    return alike && bare && /^(LI|DIV|TR|TD|ARTICLE|DT|DD)$/.test(dom.tagName(children[0])) ? children : [];
  };
  const findDelegated = () => {
    delegated = new Set();
    for (const el of kept.heard) {
      if (!dom.isConnected(el)) kept.heard.delete(el);
      else if (!isRoot(el) && isPlain(el) && !activeIn(el).length && !heardIn(el).length) entriesOf(el).forEach((entry) => delegated.add(entry));
    }
    for (const el of kept.dragged) if (!dom.isConnected(el)) kept.dragged.delete(el);
  };

  const looksLikeSomething = (el, style) => {
    if (saysSomething(dom.textContent(el)) || tidy(dom.textContent(el)) || fieldLabel(el) || dom.getAttribute(el, "title") || dom.querySelector(el, GRAPHIC)) return true;
    if (dom.matches(el, "img,svg,canvas,video,area")) return true;
    const { width, height } = dom.getBoundingClientRect(el);
    const inner = dom.firstElementChild(el) && getComputedStyle(dom.firstElementChild(el));
    const painted = [style, inner].some((one) => one && (one.backgroundImage !== "none" || !/^rgba\(0, 0, 0, 0\)|transparent/.test(one.backgroundColor)));
    return painted && Math.min(width, height) >= MIN_SWATCH_PX;
  };
  // A thing that is clickable as a whole and holds other controls is told beside them, unless they are all there is to it.
  const standsBeside = (el, inner) => {
    if (!inner.length) return true;
    // A box around a field only passes its clicks on.
    if (inner.some((one) => dom.matches(one, "textarea,[role=combobox],[role=textbox],input:not([type=checkbox],[type=radio],[type=button],[type=submit])"))) return false;
    if (inner.length > HELD || areaOf(el) > 0.5 * innerWidth * innerHeight) return false;
    const own = reach.pieces(el, `${reach.INNER},a`) || tidy(fieldLabel(el));
    if (saysSomething(own)) return true;
    // What is only links and pictures is one of them, if it is as large.
    return saysSomething(reach.pieces(el, reach.INNER)) && inner.every((one) => areaOf(one) < 0.7 * areaOf(el)) && inner.length > 1;
  };
  const isHolder = (el, style) => HOLDERS.has(dom.getAttribute(el, "role")) || /auto|scroll/.test(style.overflow) ||
    /^(H[1-6]|P|SECTION|MAIN|ARTICLE|PRE|CODE|FORM|FIELDSET|IFRAME|DIALOG|TABLE|UL|OL)$/.test(dom.tagName(el));
  const isClicked = (el, style, parentPointer) => {
    if (style.cursor === "pointer" && !parentPointer) return true;
    if (HOLDERS.has(dom.getAttribute(el, "role"))) return false;
    if (kept.heard.has(el) && !delegated.has(dom.firstElementChild(el)) && !(isPlain(el) && areaOf(el) > 0.5 * innerWidth * innerHeight)) return true;
    if (delegated.has(el) || dom.matches(el, WRITTEN)) return true;
    return dom.hasAttribute(el, "tabindex") && el.tabIndex >= 0 && !isHolder(el, style);
  };
  const genericRole = (el, style, parentPointer) => {
    const role = dom.getAttribute(el, "role"), tag = dom.tagName(el);
    if (tag === "LABEL" && el.control) return "";
    if (isClicked(el, style, parentPointer) && looksLikeSomething(el, style)) {
      const inner = [...new Set([...activeIn(el), ...heardIn(el)])].filter((one) => dom.tagName(one) !== "LABEL");
      if (standsBeside(el, inner)) return SHOWN_ROLES.has(role) ? role : inner.length > 1 ? "row" : "button";
    }
    const isThing = isDraggable(el, style) && looksLikeSomething(el, style) && (!activeIn(el).length || saysSomething(reach.pieces(el, reach.INNER)));
    return isThing ? "item" : "";
  };
  const isDraggable = (el, style) => {
    if (dom.isContentEditable(el)) return false;
    if (dom.getAttribute(el, "draggable") === "true" || kept.dragged.has(el)) return true;
    const parent = dom.parentElement(el);
    return /^(grab|move)$/.test(style.cursor) && Boolean(parent) && getComputedStyle(parent).cursor !== style.cursor;
  };

  const roleOf = (el, style, parentPointer) => {
    const tag = dom.tagName(el), role = dom.getAttribute(el, "role"), parent = dom.parentElement(el);
    if (tag === "INPUT") return el.type === "hidden" ? "" : INPUT_ROLES[el.type] || "textbox";
    if (tag === "SELECT") return "select";
    if (tag === "TEXTAREA" || (dom.isContentEditable(el) && !(parent && dom.isContentEditable(parent)))) return "textbox";
    if (ROLES.has(role)) return role === "searchbox" ? "textbox" : role;
    if (tag === "A" && el.hasAttribute("href")) return "link";
    if (tag === "BUTTON" || tag === "SUMMARY") return "button";
    if (isRoot(el)) return "";
    if (dom.hasAttribute(el, "onclick") && tag !== "LABEL") return "button";
    return genericRole(el, style, parentPointer);
  };
  // Shapes in a drawing that can be clicked; the rest of a drawing is not read.
  const shapesIn = (svg) => {
    if (dom.getAttribute(svg, "aria-hidden") === "true" || dom.getAttribute(svg, "role") === "img") return [];
    const marked = [...dom.querySelectorAll(svg, "a,[role=button],[role=link],[tabindex],[onclick]")];
    return [...new Set([...marked, ...[...kept.heard, ...kept.dragged].filter((one) => one !== svg && dom.contains(svg, one))])];
  };
  return { ACTIVE, isRoot, heardIn, roleOf, isDraggable, findDelegated, shapesIn };
}
