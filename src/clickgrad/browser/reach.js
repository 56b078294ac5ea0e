// Where things are and what lies on top of them, across shadow roots and frames of the same origin. Makes the functions
// that our scripts share. "Local" coordinates are those of an element's own document.
() => {
  // A document and a form show their named elements in place of what is their own, in every world: <img name=body>,
  // <input name=tagName>. So whatever may be asked of one of these is taken from the interface.
  const member = (kind, name) => {
    const { get, value } = Object.getOwnPropertyDescriptor(kind.prototype, name);
    return Function.prototype.call.bind(get || value); // as fast as asking the node itself
  };
  const members = (kind, names) => Object.fromEntries(names.map((name) => [name, member(kind, name)]));
  const ofHtml = members(HTMLElement, ["innerText", "isContentEditable"]);
  const dom = {
    ...members(Node, ["nodeType", "ownerDocument", "isConnected", "parentNode", "parentElement", "childNodes", "textContent", "contains", "getRootNode"]),
    ...members(Element, ["tagName", "children", "firstElementChild", "shadowRoot", "assignedSlot", "getAttribute", "hasAttribute", "matches", "closest",
      "querySelector", "querySelectorAll", "getBoundingClientRect", "getClientRects", "scrollIntoView", "scrollBy",
      "scrollTop", "scrollHeight", "clientHeight", "scrollLeft", "scrollWidth", "clientWidth"]),
    ...members(Document, ["body", "documentElement", "scrollingElement", "defaultView", "readyState", "title", "scripts", "evaluate", "createRange", "getSelection", "getAnimations"]),
    queryAllOf: member(Document, "querySelectorAll"),
    // Other elements than those of HTML have neither.
    innerText: (el) => (dom.tagName(el) === "FORM" ? ofHtml.innerText(el) : el.innerText),
    isContentEditable: (el) => (dom.tagName(el) === "FORM" ? ofHtml.isContentEditable(el) : el.isContentEditable),
    byId: (root, id) => {
      const kind = { 9: Document, 11: DocumentFragment }[dom.nodeType(root)];
      return kind ? kind.prototype.getElementById.call(root, id) : null;
    },
  };
  // Text is cut between two characters, never within one.
  const cut = (text, limit) => {
    if (text.length <= limit) return text;
    const half = text.charCodeAt(limit - 1) >> 10 === 0xd800 >> 10;
    return text.slice(0, half ? limit - 1 : limit);
  };

  // The middle first; the edges and corners last, for what shows only a strip beside its cover.
  const SPOTS = [
    [0.5, 0.5], [0.2, 0.5], [0.8, 0.5], [0.5, 0.2], [0.5, 0.8],
    [0.05, 0.5], [0.95, 0.5], [0.5, 0.05], [0.5, 0.95], [0.1, 0.1], [0.9, 0.1], [0.1, 0.9], [0.9, 0.9],
  ];

  const intersect = (a, b) => ({
    left: Math.max(a.left, b.left), top: Math.max(a.top, b.top),
    right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom),
  });
  // Where the content of a frame begins, in the coordinates of the document that holds the frame.
  const contentOf = (frame) => {
    const rect = frame.getBoundingClientRect();
    const style = getComputedStyle(frame);
    const scale = (frame.offsetWidth && rect.width / frame.offsetWidth) || 1;
    return {
      x: rect.left + (frame.clientLeft + (parseFloat(style.paddingLeft) || 0)) * scale,
      y: rect.top + (frame.clientTop + (parseFloat(style.paddingTop) || 0)) * scale,
      scale,
    };
  };
  // Where a window's (0, 0) lies in the browser's viewport, and how large its pixels are there.
  const placeOf = (view) => {
    if (view === window) return { x: 0, y: 0, scale: 1 };
    const outer = placeOf(view.parent), inner = contentOf(view.frameElement);
    return { x: outer.x + inner.x * outer.scale, y: outer.y + inner.y * outer.scale, scale: outer.scale * inner.scale };
  };
  // The part of a window that its frames let through, in local coordinates.
  const viewOf = (view) => {
    const whole = { left: 0, top: 0, right: view.innerWidth, bottom: view.innerHeight };
    return view === window ? whole : intersect(whole, shift(viewOf(view.parent), contentOf(view.frameElement)));
  };
  const shift = (rect, { x, y, scale }) => ({
    left: (rect.left - x) / scale, top: (rect.top - y) / scale, right: (rect.right - x) / scale, bottom: (rect.bottom - y) / scale,
  });

  const innerOf = (el) => (/^(IFRAME|FRAME|OBJECT|EMBED)$/.test(dom.tagName(el)) && el.contentDocument) || null;
  const elementAt = { 9: Document.prototype.elementFromPoint, 11: ShadowRoot.prototype.elementFromPoint };
  const hitAt = (x, y) => {
    let hit = null;
    for (let root = document; root; ) {
      const next = elementAt[dom.nodeType(root)].call(root, x, y);
      if (!next || next === hit) break;
      hit = next;
      root = dom.shadowRoot(hit) || innerOf(hit);
      if (innerOf(hit)) {
        const content = contentOf(hit);
        [x, y] = [(x - content.x) / content.scale, (y - content.y) / content.scale];
      }
    }
    return hit;
  };
  const outwards = function* (node) {
    for (; node; node = (dom.nodeType(node) === 1 && dom.assignedSlot(node)) || dom.parentNode(node) || (dom.nodeType(node) === 11 && node.host)) yield node;
  };
  const belongs = (hit, el, target) => {
    for (const node of outwards(hit)) if (node === el || node === target || (dom.nodeType(node) === 1 && dom.tagName(node) === "LABEL" && node.control === el)) return true;
    return false;
  };
  const rectsOn = function* (target, clip) {
    for (const one of [target, dom.firstElementChild(target)]) {
      for (const rect of one ? dom.getClientRects(one) : []) {
        const part = intersect(rect, clip);
        if (part.right - part.left >= 1 && part.bottom - part.top >= 1) yield part;
      }
    }
  };
  // A point of the browser's viewport at which a real click reaches the element, or null: then something covers it.
  const pointOn = (el, target, clip, place) => {
    for (const { left, top, right, bottom } of rectsOn(target, clip)) {
      for (const [across, down] of SPOTS) {
        const x = place.x + (left + (right - left) * across) * place.scale;
        const y = place.y + (top + (bottom - top) * down) * place.scale;
        if (belongs(hitAt(x, y), el, target)) return { x, y };
      }
    }
    return null;
  };
  return { dom, cut, belongs, intersect, contentOf, placeOf, viewOf, shift, hitAt, outwards, rectsOn, pointOn };
}
