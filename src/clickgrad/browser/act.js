// Prepares one action on a stamped element, in the page. Arguments: {key, verb, id, text} and what reach.js makes.
// Returns JSON: {notice} when the action is impossible, else {notice: "", x, y} with a point where a real click reaches
// the element.
({ key, verb, id, text }, reach) => {
  const OPTIONS_TOLD = 12;
  const stamp = window[Symbol.for(key)] || { refs: [], scrollers: [document.scrollingElement || document.documentElement] };
  const refuse = (notice) => JSON.stringify({ notice });
  const ready = (x = 0, y = 0, keys = false) => JSON.stringify({ notice: "", x, y, keys });

  if (verb === "scroll") {
    const direction = Number(text);
    for (const scroller of stamp.scrollers) {
      const before = scroller.scrollTop;
      scroller.scrollBy({ top: direction * scroller.clientHeight * 0.8, behavior: "instant" });
      if (scroller.scrollTop !== before) return ready();
    }
    return refuse(`The page does not scroll further ${direction > 0 ? "down" : "up"}.`);
  }

  const ref = stamp.refs[id];
  if (!ref) return refuse(`There is no element ${id} on this page.`);
  const { el, target, role } = ref;
  const article = /^[aeiou]/.test(role) ? "an" : "a";
  const view = el.ownerDocument.defaultView; // none when its frame has gone
  if (!el.isConnected || !view) return refuse(`Element ${id} is no longer on the page.`);
  if (verb !== "hover" && (el.matches(":disabled") || el.getAttribute("aria-disabled") === "true" || el.closest("[inert]")))
    return refuse(`Element ${id} is disabled.`);

  const isShown = () => !reach.rectsOn(target, reach.viewOf(view)).next().done && getComputedStyle(target).visibility === "visible";
  const find = () => reach.pointOn(el, target, reach.viewOf(view), reach.placeOf(view));
  let point = find();
  if (!point) {
    target.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    point = find();
  }
  if (!point) return refuse(isShown() ? `Element ${id} is covered by something else on the page.` : `Element ${id} is not visible.`);

  if (verb === "select") {
    const advice = /^(combobox|option)$/.test(role) || el.getAttribute("aria-haspopup") === "listbox" ? " Click it, then its option." : "";
    if (el.tagName !== "SELECT") return refuse(`Element ${id} is ${article} ${role}, not a dropdown.${advice}`);
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
    const editable = el.isContentEditable || el.tagName === "TEXTAREA" || (el.tagName === "INPUT" && role !== "button" && !/^(checkbox|radio)$/.test(el.type));
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
    if (el.isContentEditable) el.ownerDocument.getSelection().selectAllChildren(el);
    else el.select();
    return ready(point.x, point.y, true);
  }

  if (verb === "click" && el.tagName === "SELECT")
    return refuse(`Element ${id} is a dropdown: choose with Select Dropdown Option.`);
  if (verb === "click" && el.type === "file") return refuse(`Element ${id} takes a file, and there is none to give.`);
  return ready(point.x, point.y);
}
