// Prepares one action on an element of the last observation. Arguments: {verb, id, text}, what reach.js makes, and what is kept.
// Returns JSON: {notice} when the action is impossible, else {notice: "", x, y} with a point where a real click reaches
// the element. A click that follows is watched: where it lands on something else after all, it is stopped.
({ verb, id, text }, reach, kept) => {
  const { dom } = reach;
  kept.begin?.();
  const OPTIONS_TOLD = 12;
  const GESTURE = ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "auxclick", "contextmenu", "dblclick"];
  const refuse = (notice) => JSON.stringify({ notice });
  const ready = (x = 0, y = 0, keys = false) => JSON.stringify({ notice: "", x, y, keys });

  // The events reach us before they reach the page. A click on a label has a second one, on what it labels.
  const watch = () => {
    kept.aim?.drop();
    const aim = { missed: false, began: false };
    const look = (event) => {
      if (!event.isTrusted) return;
      if (!aim.began) aim.missed = !reach.belongs(event.composedPath()[0], el, target);
      aim.began = true;
      if (!aim.missed) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    const views = new Set([window, view]);
    const each = (change) => { for (const one of views) for (const name of GESTURE) change.call(one, name, look, { capture: true, passive: false }); };
    aim.drop = () => each(EventTarget.prototype.removeEventListener);
    each(EventTarget.prototype.addEventListener);
    kept.aim = aim;
  };

  if (verb === "scroll") {
    const direction = Number(text);
    for (const scroller of kept.scrollers || [dom.scrollingElement(document) || dom.documentElement(document)]) {
      const before = dom.scrollTop(scroller);
      dom.scrollBy(scroller, { top: direction * dom.clientHeight(scroller) * 0.8, behavior: "instant" });
      if (dom.scrollTop(scroller) !== before) return ready();
    }
    return refuse(`The page does not scroll further ${direction > 0 ? "down" : "up"}.`);
  }

  // Of a pane: the nearest one around the element that still moves that way.
  const pan = (el, way) => {
    const across = way === "left" || way === "right", sign = way === "down" || way === "right" ? 1 : -1;
    for (let at = el; at; at = dom.parentElement(at)) {
      const style = getComputedStyle(at), isRoot = at === (dom.scrollingElement(dom.ownerDocument(at)) || dom.documentElement(dom.ownerDocument(at)));
      if (!isRoot && !/auto|scroll/.test(across ? style.overflowX : style.overflowY)) continue;
      const before = across ? dom.scrollLeft(at) : dom.scrollTop(at);
      const step = sign * 0.8 * (across ? dom.clientWidth(at) : dom.clientHeight(at));
      dom.scrollBy(at, { left: across ? step : 0, top: across ? 0 : step, behavior: "instant" });
      if ((across ? dom.scrollLeft(at) : dom.scrollTop(at)) !== before) return true;
    }
    return false;
  };

  const ref = kept.refs[id];
  if (!ref) return refuse(`There is no element ${id} on this page.`);
  const { el, target, role } = ref;
  const article = /^[aeiou]/.test(role) ? "an" : "a";
  const view = dom.defaultView(dom.ownerDocument(el)); // none when its frame has gone
  if (!dom.isConnected(el) || !view) return refuse(`Element ${id} is no longer on the page.`);
  if (verb === "pan") return pan(el, text) ? ready() : refuse(`Nothing around element ${id} scrolls further ${text}.`);
  if (!/^(hover|point|place)$/.test(verb) && (dom.matches(el, ":disabled") || dom.getAttribute(el, "aria-disabled") === "true" || dom.closest(el, "[inert]")))
    return refuse(`Element ${id} is disabled.`);

  const isShown = () => !reach.rectsOn(target, reach.viewOf(view)).next().done && getComputedStyle(target).visibility === "visible";
  const find = () => reach.pointOn(el, target, reach.viewOf(view), reach.placeOf(view));
  let point = find();
  if (!point && verb !== "place") {
    dom.scrollIntoView(target, { block: "center", inline: "center", behavior: "instant" });
    point = find();
  }
  if (!point) return refuse(isShown() ? `Element ${id} is covered by something else on the page.` : `Element ${id} is not visible.`);

  if (verb === "deselect") {
    if (dom.tagName(el) !== "SELECT" || !el.multiple) return refuse(`Element ${id} is no list of which several options can be chosen.`);
    const wanted = text.replace(/\s+/g, " ").trim().toLowerCase();
    const option = [...el.selectedOptions].find((o) => (o.label || o.textContent).replace(/\s+/g, " ").trim().toLowerCase() === wanted);
    if (!option) return refuse(`The option "${text}" of element ${id} is not chosen.`);
    option.selected = false;
    el.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    el.dispatchEvent(new Event("change", { bubbles: true }));
    return ready();
  }

  if (verb === "select") {
    const advice = /^(combobox|option)$/.test(role) || dom.getAttribute(el, "aria-haspopup") === "listbox" ? " Click it, then its option." : "";
    if (dom.tagName(el) !== "SELECT") return refuse(`Element ${id} is ${article} ${role}, not a dropdown.${advice}`);
    const tidy = (value) => value.replace(/\s+/g, " ").trim().toLowerCase();
    const wanted = tidy(text);
    const options = [...el.options];
    const option = options.find((o) => tidy(o.label || o.textContent) === wanted) || options.find((o) => tidy(o.value) === wanted);
    if (!option) {
      const names = options.slice(0, OPTIONS_TOLD).map((o) => (o.label || o.textContent).replace(/\s+/g, " ").trim());
      return refuse(`Dropdown ${id} has no option "${text}". It has ${names.join(", ")}${options.length > OPTIONS_TOLD ? ", …" : ""}.`);
    }
    if (option.matches(":disabled")) return refuse(`The option "${text}" of dropdown ${id} is disabled.`);
    el.focus();
    option.selected = true;
    el.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    el.dispatchEvent(new Event("change", { bubbles: true }));
    return ready();
  }

  if (verb === "type") {
    if (el.type === "file") return refuse(`Element ${id} takes a file, and there is none to give.`);
    const editable = dom.isContentEditable(el) || dom.tagName(el) === "TEXTAREA" || (dom.tagName(el) === "INPUT" && role !== "button" && !/^(checkbox|radio)$/.test(el.type));
    if (!editable) return refuse(`Element ${id} is ${article} ${role}; it cannot be typed into.`);
    if (el.readOnly) return refuse(`Element ${id} is read-only.`);
    el.focus();
    if (/^(date|time|month|week|datetime-local|color|range)$/.test(el.type)) {
      // These have no text to type into: a keyboard would fill their parts in the order of the locale.
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(el, text);
      if (text && !el.value) return refuse(`"${text}" is not a valid ${el.type} for element ${id}.`);
      el.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
      el.dispatchEvent(new Event("change", { bubbles: true }));
      return ready();
    }
    if (dom.isContentEditable(el)) dom.getSelection(dom.ownerDocument(el)).selectAllChildren(el);
    else el.select();
    return ready(point.x, point.y, true);
  }

  if (verb === "click" && dom.tagName(el) === "SELECT")
    return refuse(`Element ${id} is a dropdown: choose with Select Dropdown Option.`);
  if (verb === "click" && el.type === "file") return refuse(`Element ${id} takes a file, and there is none to give.`);
  if (!/^(hover|point|place)$/.test(verb)) watch();
  return ready(point.x, point.y);
}
