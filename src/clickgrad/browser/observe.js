// What can be seen and acted on in the viewport, as JSON, frames of the same origin included. Arguments: {budget_ms, panes},
// after which the rest of an endless page is left out and whether panes may be told by themselves, to be scrolled; what
// reach.js and its like make; and where the elements are kept until the next time. Returns {url, title, above, below, items}, what is in front first, else in DOM order: {text, tag, covered} for
// static text, {text, tag, ours} for words of our own, {id, role, tag, type, name, placeholder, value, options, states, box}
// for controls.
({ budget_ms, panes: named }, reach, kept) => {
  const { dom, tidy, isRoot, roleOf, ACTIVE, labelsOf, labelText, ownLabel } = reach;
  const TEXT_LIMIT = 500;
  const ITEM_LIMIT = 10000;
  const OPTION_LIMIT = 5000;
  const MIN_PX = 2; // smaller things are there for screen readers, not for eyes
  const MIN_PANE_PX = 40; // smaller ones scroll by accident
  const MIN_FRAME_PX = 20; // smaller frames count visitors
  const ICON_PX = 32;
  const LAYERS = 24; // things out of the flow that are looked at more closely
  const SPOTS = 3; // of a text that are looked at
  const BAR = 0.35; // of the viewport's height: what is fixed and lower is a bar, from under which things scroll
  const UNSEEN = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "HEAD", "DATALIST", "OPTION"]);
  const UNREAD = new Set(["OBJECT", "CANVAS", "VIDEO", "AUDIO", "svg"]);
  const FRAMES = new Set(["IFRAME", "FRAME"]);
  const UNDRAWN = /^(checkbox|radio|file|range|color|date)$/; // fields that pages draw themselves, over the real one
  const FALLBACK = /^(checkbox|radio|file)$/; // and those that are clicked through a label

  const refs = [];
  let items = [];
  const range = dom.createRange(document);
  const deadline = performance.now() + budget_ms;
  let visited = 0, spent = false;
  const panes = []; // what scrolls in the page, as [element, the area that can be seen]
  // The document being walked: what of it can be seen, in its own coordinates, and where these lie in the viewport.
  let scene = { clip: reach.viewOf(window), place: reach.placeOf(window) };
  let behindDialog = 0;
  let floating = false; // whether anything is placed out of the flow, so that it may cover anything else
  const marks = []; // what is left to do when that is known
  const covers = new Set(); // what lies over something
  const told = new Set();
  const layers = []; // what may be in front of the rest
  let level = []; // those of them that hold the node being visited

  const cut = (text) => (text.length > TEXT_LIMIT ? reach.cut(text, TEXT_LIMIT) + "…" : text);
  const overlaps = (a, b, least = MIN_PX) => {
    const both = reach.intersect(a, b);
    return both.right - both.left >= least && both.bottom - both.top >= least;
  };
  const childrenOf = (el) => {
    const inner = dom.shadowRoot(el);
    if (inner) return inner.childNodes;
    if (dom.tagName(el) === "SLOT" && el.assignedNodes().length) return el.assignedNodes();
    return dom.childNodes(el);
  };
  const add = (item) => items.push({ ...item, level });
  const say = (text) => { flush(); add({ text, tag: "p", ours: true }); };

  // --- static text: the pieces of one block become one line ---

  const NONE = 0, CELL = 1, LINE = 2;
  const EMPTY = "–"; // a cell of a table with nothing in it, so that the others keep their column
  let line = "", lineTag = "p", boundary = NONE, spots = [];
  const flush = () => {
    const text = cut(tidy(line));
    if (/[^\s,.;:|·•–-]/.test(text)) {
      const item = { text, tag: lineTag, covered: false, level }, seen = spots;
      items.push(item);
      if (seen.length) marks.push(() => { item.covered = seen.every((spot) => spot()); });
    }
    line = "";
    spots = [];
    boundary = NONE;
  };
  const separate = (strength) => { boundary = Math.max(boundary, strength); };
  const addText = (text, tag) => {
    if (!text.trim()) {
      if (boundary === NONE && line) line += " ";
      return;
    }
    if (boundary === LINE) flush();
    else if (boundary === CELL && line.trim()) line = line.trimEnd() + (/[\p{L}\p{N})%"'”’*★☆…–]\s*$/u.test(line) ? ", " : " ");
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
  // What its panes let through of an element that is looked at out of turn.
  const clipOf = (el) => {
    let clip = scene.clip;
    for (let at = dom.parentElement(el); at && !isRoot(at); at = dom.parentElement(at))
      if (getComputedStyle(at).overflow !== "visible") clip = reach.intersect(clip, dom.getBoundingClientRect(at));
    return clip;
  };
  // A styled checkbox is often invisible itself: it is clicked through its label, or lies unseen over its picture.
  const standIn = (el) => {
    const label = FALLBACK.test(el.type) && labelsOf(el).find((one) => isShown(one, getComputedStyle(one), clipOf(one)));
    if (label) return label;
    const style = UNDRAWN.test(el.type) ? getComputedStyle(el) : null;
    if (!style || style.visibility !== "visible" || style.display === "none" || style.pointerEvents === "none") return null;
    return overlaps(dom.getBoundingClientRect(el), clipOf(el), 8) ? el : null;
  };
  // From under a bar that stays where it is things can be scrolled: it covers nothing for good.
  const isUnderBar = (target, clip, place) => {
    for (const { left, top, right, bottom } of reach.rectsOn(target, clip)) {
      const hit = reach.hitAt(place.x + ((left + right) / 2) * place.scale, place.y + ((top + bottom) / 2) * place.scale);
      for (const node of hit ? reach.outwards(hit) : []) {
        if (dom.nodeType(node) !== 1 || dom.contains(node, target)) break;
        if (/sticky|fixed/.test(getComputedStyle(node).position)) return dom.getBoundingClientRect(node).height < BAR * innerHeight && canScroll(target);
      }
    }
    return false;
  };
  const canScroll = (el) => {
    for (let at = el; at; at = dom.parentElement(at)) if (!isRoot(at) && scrolls(at) && /auto|scroll/.test(getComputedStyle(at).overflowY)) return true;
    return mayScroll(document);
  };
  const emit = (el, role, target, style, state) => {
    if (told.has(el)) return;
    told.add(el);
    const states = reach.statesOf(el);
    const clip = target === el ? state.clip : clipOf(target), { place } = scene;
    if (state.behind && !reach.pointOn(el, target, clip, place)) return void behindDialog++;
    if (reach.isDraggable(el, style) && !states.includes("disabled")) states.push("draggable");
    states.push(...reach.stressOf(el, states));
    if (!states.includes("disabled")) {
      const mark = () => {
        if (reach.pointOn(el, target, clip, place) || isUnderBar(target, clip, place)) return;
        if (getComputedStyle(target).pointerEvents === "none") return void states.push("disabled");
        states.push("covered");
        const cover = isCovered(rectOf(target), target, clip, place);
        if (cover) covers.add(cover);
      };
      // What a link paints over its surroundings ends at the nearest positioned ancestor: only there may it cover others.
      if (state.positioned || state.layer) mark();
      else marks.push(mark);
    }
    flush();
    const id = refs.push({ el, target, role }) - 1;
    add({
      id, role, tag: dom.tagName(el).toLowerCase(), type: dom.tagName(el) === "INPUT" ? el.type : "",
      name: cut(reach.nameOf(el, role)), placeholder: cut(reach.hintOf(el)), value: cut(tidy(reach.valueOf(el, role))),
      options: role === "select" ? [...el.options].slice(0, OPTION_LIMIT).map((option) => cut(reach.optionText(option))) : [],
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

  const isOpaque = (hit, text) => {
    for (const node of reach.outwards(hit)) {
      if (dom.nodeType(node) !== 1) continue;
      if (dom.contains(node, text)) return false;
      const style = getComputedStyle(node), alpha = (/^rgba\(.*, ([\d.]+)\)$/.exec(style.backgroundColor) || [0, 1])[1];
      if (Number(alpha) >= 0.5 || style.backgroundImage !== "none" || /^(IMG|CANVAS|VIDEO|IFRAME)$/.test(dom.tagName(node))) return true;
    }
    return false;
  };
  const isCovered = (rect, parent, clip, place) => {
    const { left, top, right, bottom } = reach.intersect(rect, clip);
    const { x, y, scale } = place;
    const hit = reach.hitAt(x + ((left + right) / 2) * scale, y + ((top + bottom) / 2) * scale);
    return hit && parent && ![...reach.outwards(parent)].includes(hit) && !dom.contains(parent, hit) ? hit : null;
  };
  const visitText = (node, state) => {
    if (state.mute || !state.visible) return;
    if (node.data.trim()) {
      range.selectNodeContents(node);
      const rect = range.getBoundingClientRect(), parent = dom.parentElement(node);
      if (!overlaps(rect, state.clip)) return;
      if (state.behind && isCovered(rect, parent, state.clip, scene.place)) return void behindDialog++;
      addText(node.data, state.tag);
      if (spots.length < SPOTS && parent) spots.push(coveredLater(rect, parent, state.clip, scene.place));
    } else addText(node.data, state.tag);
  };
  const coveredLater = (rect, parent, clip, place) => () => {
    const hit = isCovered(rect, parent, clip, place);
    const covered = Boolean(hit) && getComputedStyle(parent).pointerEvents !== "none" && isOpaque(hit, parent) && !isUnderBar(parent, clip, place);
    if (covered) covers.add(hit);
    return covered;
  };
  const visitControl = (el, role, style, state) => {
    const shown = isShown(el, style, state.clip);
    const target = shown ? el : standIn(el);
    if (target) emit(el, role, target, style, state);
    // A container that is clickable as a whole keeps its inner controls reachable; its text is already in its name.
    if (!dom.matches(el, "select,textarea,input") && !dom.isContentEditable(el) && holdsControls(el)) {
      visitChildren(el, style, { ...state, mute: shown });
    }
  };
  const holdsControls = (el) => {
    if (dom.querySelector(el, ACTIVE)) return true;
    if (dom.matches(el, "a,button")) return false;
    return [...reach.heardIn(el), ...reach.cardsIn(el)].some((one) => isSmallIn(el, one)) || Boolean(dom.querySelector(el, "[draggable=true],[tabindex]"));
  };
  const isSmallIn = (el, one) => {
    const [whole, part] = [el, one].map((node) => dom.getBoundingClientRect(node));
    return part.width * part.height < 0.5 * whole.width * whole.height;
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
    const isLarge = right - left >= MIN_PANE_PX && bottom - top >= MIN_PANE_PX;
    if (isLarge) panes.push([el, (right - left) * (bottom - top)]);
    return isLarge;
  };
  const sideways = (el, style) => ({
    left: /auto|scroll/.test(style.overflowX) && dom.scrollLeft(el) > 8,
    right: /auto|scroll/.test(style.overflowX) && dom.scrollLeft(el) + dom.clientWidth(el) < dom.scrollWidth(el) - 8,
  });
  const visitChildren = (el, style, state) => {
    const tag = dom.tagName(el), heading = /^H[1-6]$/.test(tag) ? tag.toLowerCase() : state.tag;
    const clips = style.overflow !== "visible" && !isRoot(el) && style.display !== "inline";
    const clip = clips ? reach.intersect(state.clip, dom.getBoundingClientRect(el)) : state.clip;
    const isPane = clips && /auto|scroll/.test(style.overflowY) && scrolls(el) && addPane(el, clip);
    const more = clips && !state.mute && overlaps(clip, state.clip, MIN_PANE_PX / 2) ? sideways(el, style) : {};
    const tells = named && !state.mute && (isPane || more.left || more.right);
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
    if (tag === "LABEL") visitUnrendered(el, inner);
    const folded = tag === "DETAILS" && !el.open;
    if (tells) flush();
    const before = { refs: refs.length, items: items.length };
    if (more.left) say("… more to the left");
    for (const child of childrenOf(el)) if (!folded || (dom.nodeType(child) === 1 && dom.tagName(child) === "SUMMARY")) visit(child, inner);
    if (more.right) say("… more to the right");
    if (tells && refs.length === before.refs) tellPane(el, style, state, before.items);
  };
  // A pane that shows nothing to act on could not be scrolled by any number but its own.
  const tellPane = (el, style, state, at) => {
    flush();
    const lines = items.splice(at);
    emit(el, "pane", el, style, state);
    items.push(...lines);
  };
  // A field of which nothing is drawn, not even what it is in, has only its label.
  const visitUnrendered = (label, state) => {
    const field = label.control, parent = field && dom.parentElement(field);
    if (!parent || !FALLBACK.test(field.type) || dom.contains(label, field) || parent.checkVisibility()) return;
    const style = getComputedStyle(field), target = standIn(field);
    if (target === label) emit(field, roleOf(field, style, false), label, style, state);
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
      say(`frame ${URL.canParse(frame.src) ? new URL(frame.src).host : ""} (cannot be read)`);
    }
  };
  // Drawings and players are not read, but what of them can be clicked is told, and what they are called.
  const visitDrawing = (el, style, state) => {
    floating ||= style.position !== "static";
    if (style.display === "none") return;
    const role = dom.getAttribute(el, "aria-hidden") === "true" ? "" : reach.roleOf(el, style, state.pointer);
    if (role && isShown(el, style, state.clip)) return emit(el, role, el, style, state);
    if (dom.tagName(el) !== "svg") return;
    visitPicture(el, style, state);
    for (const one of reach.shapesIn(el)) {
      const drawn = getComputedStyle(one);
      if (isShown(one, drawn, state.clip)) emit(one, "button", one, drawn, state);
    }
  };
  const visitPicture = (el, style, state) => {
    if (state.mute || !isShown(el, style, state.clip)) return;
    const words = reach.pictured(el), parent = dom.parentElement(el);
    if (!words || dom.getAttribute(el, "aria-hidden") === "true") return;
    const around = parent ? dom.textContent(parent) || "" : "";
    const rect = dom.getBoundingClientRect(el), isIcon = Math.max(rect.width, rect.height) <= ICON_PX;
    if (!reach.saysSomething(around) || (isIcon && !around.includes(words))) addText(` ${words} `, state.tag);
  };
  // A dot of colour without a word, as beside somebody who is online.
  const visitDot = (el, style, state) => {
    if (state.mute || !isShown(el, style, state.clip) || parseFloat(style.borderTopLeftRadius) < 4) return;
    const { width, height } = dom.getBoundingClientRect(el);
    const colour = width >= 5 && width <= 24 && Math.abs(width - height) < 2 && reach.colourOf(style.backgroundColor);
    if (colour && colour.strong) addText(` ${colour.name} dot `, state.tag);
  };
  const isEmptyCell = (el) => /^T[DH]$/.test(dom.tagName(el)) && !dom.children(el).length && !tidy(dom.textContent(el)) && Boolean(dom.closest(el, "table")?.querySelector("th"));
  const enterLayer = (el, style) => {
    const { width, height } = dom.getBoundingClientRect(el);
    if (width < 24 || height < 12 || layers.length >= LAYERS || style.visibility !== "visible") return false;
    flush();
    level = [...level, layers.push(el) - 1];
    return true;
  };
  const visitElement = (node, style, state) => {
    const role = roleOf(node, style, state.pointer), tag = dom.tagName(node);
    if (FRAMES.has(tag)) return visitFrame(node, style, state);
    if (role) return visitControl(node, role, style, state);
    const gauge = reach.gauge(node);
    if (gauge && !state.mute && isShown(node, style, state.clip)) {
      flush();
      return void add({ text: cut(gauge), tag: "p", covered: false });
    }
    if (isEmptyCell(node) && !state.mute && isShown(node, style, state.clip)) return addText(EMPTY, state.tag);
    if (tag === "IMG" || ((dom.hasAttribute(node, "title") || dom.getAttribute(node, "role") === "img") && !dom.querySelector(node, ACTIVE))) visitPicture(node, style, state);
    if (dom.getAttribute(node, "role") === "img" && reach.fieldLabel(node)) return;
    if (!dom.firstElementChild(node) && !dom.textContent(node)) visitDot(node, style, state);
    if (style.opacity !== "0" || dom.querySelector(node, "input")) visitChildren(node, style, { ...state, mute: state.mute || style.opacity === "0" });
  };
  const visit = (node, state) => {
    // Every few nodes: asking for the time is not free.
    if (++visited % 64 === 0) spent ||= performance.now() > deadline || items.length > ITEM_LIMIT;
    if (spent) return;
    if (dom.nodeType(node) === 3) return visitText(node, state);
    if (dom.nodeType(node) !== 1) return;
    const tag = dom.tagName(node);
    if (UNSEEN.has(tag)) return;
    const style = getComputedStyle(node);
    if (UNREAD.has(tag)) return visitDrawing(node, style, state);
    if (style.display === "none" || style.contentVisibility === "hidden") {
      if (tag === "INPUT" && FALLBACK.test(node.type) && standIn(node)) visitControl(node, roleOf(node, style, false), style, state);
      return;
    }
    const strength = FRAMES.has(tag) ? LINE : strengthOf(node, style, state.cells);
    separate(strength);
    if (roots.includes(node)) state = { ...state, behind: false };
    const { position } = style, outer = level;
    let lifted = false;
    if (position !== "static") {
      floating ||= position !== "relative";
      state = { ...state, positioned: true, clip: position === "fixed" ? scene.clip : position === "absolute" ? state.placed : state.clip };
      lifted = (position === "fixed" || position === "absolute") && !state.mute && enterLayer(node, style);
    }
    visitElement(node, style, state);
    if (lifted) flush();
    level = outer;
    separate(strength);
  };

  // --- what is in front is told first; what scrolls is sought there, then in the page, then in the panes of it ---

  const inFront = () => layers.map((el) => roots.includes(el) || roots.some((root) => dom.contains(el, root) && behindDialog) || reach.isInFront(el, covers));
  const findScrollers = (front) => {
    const page = mayScroll(document) ? [rootOf(document)] : [];
    const inner = panes.sort(([, a], [, b]) => b - a).map(([pane]) => pane);
    if (behindDialog) return inner.filter((pane) => roots.some((root) => dom.contains(root, pane) || dom.contains(pane, root)));
    const first = inner.filter((pane) => layers.some((el, at) => front[at] && dom.contains(el, pane)));
    return [...first, ...page, ...inner.filter((pane) => !first.includes(pane))];
  };
  const reorder = (front) => {
    const isFirst = (item) => item.level.some((at) => front[at]);
    const first = items.filter(isFirst), rest = items.filter((item) => !isFirst(item));
    if (!first.length || !rest.length) return;
    items = [...first, ...(rest.every((item) => item.ours) ? [] : [{ text: "… the page behind it:", tag: "p", ours: true }]), ...rest];
    const before = [...refs];
    refs.length = 0;
    for (const item of items) if ("id" in item) item.id = refs.push(before[item.id]) - 1;
  };

  reach.startComparing();
  reach.findDelegated();
  const roots = dom.body(document) ? reach.shuttingOff() : [];
  let front = [];
  if (dom.body(document)) {
    visitDocument(document, { visible: true, mute: false, behind: roots.length > 0, positioned: false, layer: false });
    flush();
    if (floating && !spent) for (const mark of marks) mark();
    if (behindDialog) say("… the rest of the page is behind this dialog");
    front = inFront();
    reorder(front);
  }
  const scrollers = findScrollers(front);
  kept.refs = refs;
  kept.scrollers = scrollers;
  return JSON.stringify({
    url: location.href, title: tidy(reach.cut(dom.title(document), TEXT_LIMIT)), items: items.map(({ level: _, ...item }) => item),
    above: scrollers.some((el) => dom.scrollTop(el) > 1),
    below: spent || scrollers.some((el) => dom.scrollTop(el) + dom.clientHeight(el) < dom.scrollHeight(el) - 1),
  });
}
