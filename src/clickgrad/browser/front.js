// What lies in front of the page: a dialog that shuts the rest off, and menus, pickers and messages that hide a part of it.
// Found by what a page says (`aria-modal`, roles, the top layer) and by what is painted over what.
(reach) => {
  const { dom, tidy } = reach;
  const SAID = "dialog[open],[role=dialog],[role=alertdialog],[role=menu],[role=listbox],[role=alert],[role=status],[role=tooltip],[popover]";
  const ACROSS = [0.04, 0.27, 0.5, 0.73, 0.96], DOWN = [0.05, 0.35, 0.65, 0.95];
  const SAMPLES = [0.08, 0.3, 0.5, 0.7, 0.92];
  const WHOLE = 0.95, MOST = 0.7;
  const MIN_LAYER_PX = 24;

  const elementsAt = (x, y) => Document.prototype.elementsFromPoint.call(document, x, y);
  const rectOf = (el) => dom.getBoundingClientRect(el);
  const isPainted = (el) => {
    const style = getComputedStyle(el), { width, height } = rectOf(el);
    return style.visibility === "visible" && style.opacity !== "0" && width >= 2 && height >= 2;
  };
  const isLayer = (style) => (style.position === "fixed" || style.position === "absolute") && style.zIndex !== "auto" && Number(style.zIndex) > 0;
  const isTopLayer = (el) => dom.matches(el, ":popover-open,:modal");

  // The outermost thing within `inside` that is lifted above the flow and holds the element.
  const layerOf = (el, inside) => {
    let found = null;
    for (const node of reach.outwards(el)) {
      if (node === inside || dom.nodeType(node) !== 1) break;
      const style = getComputedStyle(node);
      if (isLayer(style) || style.position === "fixed" || isTopLayer(node)) found = node;
    }
    return found;
  };
  const coversView = (el) => {
    const { left, top, right, bottom } = reach.intersect(rectOf(el), reach.viewOf(window));
    return (right - left) * (bottom - top) >= WHOLE * innerWidth * innerHeight;
  };
  const holdsThePage = (el) => dom.querySelectorAll(el, "*").length > MOST * dom.queryAllOf(document, "body *").length;

  // What shuts the page off: the layers that lie at every point of the viewport, if one of them is a blanket over all of it.
  const shuttingOff = () => {
    const said = [...dom.queryAllOf(document, "dialog:modal,[aria-modal=true]")].filter(isPainted).at(-1);
    if (said) return [said];
    for (let inside = dom.body(document), depth = 0; inside && depth < 4; depth++) {
      const layers = new Set();
      for (const across of ACROSS) {
        for (const down of DOWN) {
          const hit = reach.hitAt(across * innerWidth, down * innerHeight);
          const layer = hit && layerOf(hit, inside);
          if (!layer) return [];
          layers.add(layer);
        }
      }
      const blanket = [...layers].find(coversView);
      if (!blanket) return [];
      if (!holdsThePage(blanket)) return [...layers];
      inside = blanket;
    }
    return [];
  };

  // Layers that hide something else, as a menu does; a header or a side bar hides nothing, or only what scrolls by.
  const isBar = (el) => {
    const { left, top, right, bottom, width, height } = rectOf(el);
    const along = width >= 0.9 * innerWidth && height < 0.35 * innerHeight && (top <= 1 || bottom >= innerHeight - 1);
    const beside = height >= 0.8 * innerHeight && width < 0.5 * innerWidth && (left <= 1 || right >= innerWidth - 1);
    return along || beside;
  };
  const range = dom.createRange(document);
  // Whether words of an element, or a field, lie in the rectangle; that its box does says little of a heading.
  const hasWordsIn = (el, rect) => /^(INPUT|TEXTAREA|SELECT|BUTTON)$/.test(dom.tagName(el)) || [...dom.childNodes(el)].some((node) => {
    if (dom.nodeType(node) !== 3 || !node.data.trim()) return false;
    range.selectNodeContents(node);
    const { left, top, right, bottom } = reach.intersect(range.getBoundingClientRect(), rect);
    return right - left > 1 && bottom - top > 1;
  });
  // Whether what is hit in a layer hides what lies under it: through a row of icons the words behind can be read.
  const isSolid = (hit, el) => {
    for (const node of reach.outwards(hit)) {
      if (dom.nodeType(node) !== 1) continue;
      const { backgroundColor, backgroundImage } = getComputedStyle(node), alpha = (/^rgba\(.*, ([\d.]+)\)$/.exec(backgroundColor) || [0, 1])[1];
      if (Number(alpha) >= 0.5 || backgroundImage !== "none" || /^(IMG|CANVAS|VIDEO|IFRAME)$/.test(dom.tagName(node))) return true;
      if (node === el) return false;
    }
    return false;
  };
  const hides = (el) => {
    const rect = reach.intersect(rectOf(el), reach.viewOf(window)), { left, top, right, bottom } = rect;
    if (right - left < MIN_LAYER_PX || bottom - top < MIN_LAYER_PX / 2) return false;
    let shown = 0, hidden = 0;
    for (const across of SAMPLES) {
      for (const down of SAMPLES) {
        const pile = elementsAt(left + across * (right - left), top + down * (bottom - top));
        if (!pile.length || !dom.contains(el, pile[0])) continue;
        shown++;
        if (isSolid(pile[0], el) && pile.some((one) => !dom.contains(el, one) && !dom.contains(one, el) && hasWordsIn(one, rect))) hidden++;
      }
    }
    return shown > 0.5 * SAMPLES.length ** 2 && (hidden > 0 || [el, ...dom.children(el)].some((one) => dom.matches(one, SAID)));
  };
  // `covers` are the elements that were found to lie over some control or text.
  const isInFront = (el, covers) => {
    if (dom.getRootNode(el) !== document || !isPainted(el) || !tidy(dom.textContent(el)) || isBar(el) || dom.matches(el, reach.ACTIVE)) return false;
    if (isTopLayer(el)) return true;
    const { width, height } = rectOf(el);
    return width * height < MOST * innerWidth * innerHeight && ([...covers].some((one) => dom.contains(el, one)) || hides(el));
  };
  return { shuttingOff, isInFront };
}
