// What can be acted on, and as what: by its tag, its role, a listener that the browser knows of, the hand over it, or what
// frameworks write on it. Arguments: what reach.js and describe.js make, and what is kept: `heard`, `dragged` and `dropped` hold
// the elements that listen to clicks, to dragging and to what is dropped on them, told from outside, since our world does not
// see the page's listeners.
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
  const MOST = 0.7; // of a page's elements: what holds so many is its root
  const TALL_PX = 120; // a column; a row of a list is lower
  const LONGEST_LABEL = 40, DRAWN = 400; // letters on a button, and elements that are looked at

  const isRoot = (el) => el === dom.body(dom.ownerDocument(el)) || el === dom.documentElement(dom.ownerDocument(el));
  const areaOf = (el) => { const { width, height } = dom.getBoundingClientRect(el); return width * height; };
  const isPlain = (el) => !dom.hasAttribute(el, "role") && /^(DIV|SPAN|UL|OL|TABLE|TBODY|TR|SECTION|MAIN|ARTICLE|NAV|FORM)$/.test(dom.tagName(el));
  const heardIn = (el) => [...kept.heard].filter((one) => one !== el && dom.contains(el, one));
  const activeIn = (el) => [...dom.querySelectorAll(el, ACTIVE)];

  // One listener on a list hears the clicks on all of its entries: such a list is no thing to click itself.
  let delegated = new Set(), delegating = new Set(), cards = new Set();
  const cardsIn = (el) => [...cards].filter((one) => one !== el && dom.contains(el, one));
  const rowsOf = (el) => {
    const rows = /^(TABLE|TBODY)$/.test(dom.tagName(el)) ? [...dom.querySelectorAll(el, "tr")].filter((row) => dom.querySelector(row, "td")) : [];
    const cells = rows.flatMap((row) => [...dom.children(row)]);
    return cells.length && cells.every((cell) => tidy(dom.textContent(cell)).length < 4) ? cells : rows;
  };
  const isAlike = (one, other) => dom.tagName(one) === dom.tagName(other) && dom.getAttribute(one, "class") === dom.getAttribute(other, "class");
  // Cards in the columns of a board: blocks, of which some column holds several, or tall ones not as many as others.
  const cardsOf = (columns) => {
    const isWide = (child) => dom.getBoundingClientRect(child).width > 0.6 * dom.getBoundingClientRect(dom.parentElement(child)).width;
    const inner = columns.map((column) => [...dom.children(column)].filter((child) => /^(DIV|LI|ARTICLE|SECTION)$/.test(dom.tagName(child)) && isWide(child)));
    const areTall = columns.every((column) => dom.getBoundingClientRect(column).height >= TALL_PX);
    const isCard = (kind) => {
      const counts = inner.map((children) => children.filter((child) => isAlike(child, kind)).length);
      return Math.max(...counts) > 1 || (areTall && Math.min(...counts) === 0);
    };
    return inner.flat().filter(isCard);
  };
  const entriesOf = (el) => {
    if (rowsOf(el).length) return rowsOf(el);
    const children = [...dom.children(el)];
    const alike = children.length > 1 && children.every((child) => dom.tagName(child) === dom.tagName(children[0]));
    const bare = [...dom.childNodes(el)].every((node) => dom.nodeType(node) !== 3 || !node.data.trim());
    return alike && bare && /^(LI|DIV|TR|TD|ARTICLE|DT|DD)$/.test(dom.tagName(children[0])) ? children : [];
  };
  // Where a page hears every click at its root and nothing says which are meant, what is drawn as a button is told, and
  // the entries of what hangs over the page.
  const holdsThePage = (el) => dom.querySelectorAll(el, "*").length > MOST * dom.queryAllOf(document, "body *:not(script)").length;
  const isDrawnAsButton = (el, style) => {
    const text = tidy(dom.textContent(el));
    if (dom.firstElementChild(el) || !text || text.length > LONGEST_LABEL || !(parseFloat(style.paddingLeft) >= 4)) return false;
    return !/^rgba\(0, 0, 0, 0\)|transparent/.test(style.backgroundColor) || parseFloat(style.borderLeftWidth) > 0;
  };
  const drawnIn = (el) => [...dom.querySelectorAll(el, "*")].slice(0, DRAWN).flatMap((one) => {
    const style = getComputedStyle(one);
    if (/absolute|fixed/.test(style.position)) return entriesOf(one);
    return isDrawnAsButton(one, style) ? [one] : [];
  });
  const findDelegated = () => {
    [delegated, delegating, cards] = [new Set(), new Set(), new Set()];
    for (const el of kept.heard) {
      if (!dom.isConnected(el)) kept.heard.delete(el);
      else if (!isRoot(el) && isPlain(el) && !activeIn(el).length && !heardIn(el).length) {
        const entries = entriesOf(el), found = entries.length || !holdsThePage(el) ? entries : drawnIn(el);
        if (found.length) delegating.add(el);
        for (const entry of found) delegated.add(entry);
        for (const card of cardsOf(found)) cards.add(card);
      }
    }
    for (const one of ["dragged", "dropped"]) for (const el of kept[one]) if (!dom.isConnected(el)) kept[one].delete(el);
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
    if (kept.heard.has(el) && !delegating.has(el) && !(isPlain(el) && areaOf(el) > 0.5 * innerWidth * innerHeight)) return true;
    if (delegated.has(el) || cards.has(el) || dom.matches(el, WRITTEN)) return true;
    return dom.hasAttribute(el, "tabindex") && el.tabIndex >= 0 && !isHolder(el, style);
  };
  const genericRole = (el, style, parentPointer) => {
    const role = dom.getAttribute(el, "role"), tag = dom.tagName(el);
    if (tag === "LABEL" && el.control) return "";
    if (isClicked(el, style, parentPointer) && looksLikeSomething(el, style)) {
      const inner = [...new Set([...activeIn(el), ...heardIn(el), ...cardsIn(el)])].filter((one) => dom.tagName(one) !== "LABEL");
      if (standsBeside(el, inner)) return SHOWN_ROLES.has(role) ? role : inner.length > 1 ? "row" : "button";
    }
    if (isDropArea(el)) return "area";
    const isThing = isDraggable(el, style) && looksLikeSomething(el, style) && (!activeIn(el).length || saysSomething(reach.pieces(el, reach.INNER)));
    return isThing ? "item" : "";
  };
  // Where something that can be dragged may be dropped.
  const isDropArea = (el) => kept.dropped.has(el) && saysSomething(dom.textContent(el)) && areaOf(el) < 0.5 * innerWidth * innerHeight &&
    (kept.dragged.size > 0 || Boolean(document.querySelector("[draggable=true]"))) && dom.getAttribute(el, "draggable") !== "true";
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
    const hasHand = (one) => getComputedStyle(one).cursor === "pointer" && getComputedStyle(dom.parentElement(one)).cursor !== "pointer";
    const isMarked = (one) => dom.matches(one, "a,[role=button],[role=link],[tabindex],[onclick]") || kept.heard.has(one) || kept.dragged.has(one);
    return [...dom.querySelectorAll(svg, "*")].slice(0, DRAWN).filter((one) => isMarked(one) || hasHand(one));
  };
  return { ACTIVE, isRoot, heardIn, cardsIn, roleOf, isDraggable, findDelegated, shapesIn };
}
