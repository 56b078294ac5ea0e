// Prepares one action on a stamped element, in the page. Argument: {key, verb, id, text}. Returns JSON: {notice} when
// the action is impossible, else {notice: "", x, y} with a point where a real click reaches the element.
({ key, verb, id, text }) => {
  const refuse = (notice) => JSON.stringify({ notice });
  const ready = (x = 0, y = 0, keys = false) => JSON.stringify({ notice: "", x, y, keys });

  if (verb === "scroll") {
    const step = Number(text) * innerHeight * 0.8;
    const room = (el) => el.scrollHeight - el.clientHeight > 1;
    const root = document.scrollingElement || document.documentElement;
    const panes = () => [...document.querySelectorAll("body *")].filter(
      (el) => room(el) && el.clientHeight > innerHeight / 3 && /auto|scroll/.test(getComputedStyle(el).overflowY));
    const scroller = room(root) ? root : panes().sort((a, b) => b.clientHeight * b.clientWidth - a.clientHeight * a.clientWidth)[0] || root;
    const before = scroller.scrollTop;
    scroller.scrollBy({ top: step, behavior: "instant" });
    return scroller.scrollTop === before ? refuse(`The page does not scroll further ${step > 0 ? "down" : "up"}.`) : ready();
  }

  const ref = (window[Symbol.for(key)] || [])[id];
  if (!ref) return refuse(`There is no element ${id} on this page.`);
  const { el, target, role } = ref;
  const article = /^[aeiou]/.test(role) ? "an" : "a";
  if (!el.isConnected) return refuse(`Element ${id} is no longer on the page.`);
  if (verb !== "hover" && (el.matches(":disabled") || el.getAttribute("aria-disabled") === "true" || el.closest("[inert]")))
    return refuse(`Element ${id} is disabled.`);

  const belongs = (hit) => {
    for (let node = hit; node; node = node.assignedSlot || node.parentNode || node.host)
      if (node === el || node === target || (node.tagName === "LABEL" && node.control === el)) return true;
    return false;
  };
  const deepest = (x, y) => {
    let hit = document.elementFromPoint(x, y);
    while (hit && hit.shadowRoot) {
      const inner = hit.shadowRoot.elementFromPoint(x, y);
      if (!inner || inner === hit) break;
      hit = inner;
    }
    return hit;
  };
  const points = () => [...target.getClientRects(), ...(target.firstElementChild ? target.firstElementChild.getClientRects() : [])]
    .map((r) => [Math.max(r.left, 0), Math.max(r.top, 0), Math.min(r.right, innerWidth), Math.min(r.bottom, innerHeight)])
    .filter(([left, top, right, bottom]) => right - left >= 1 && bottom - top >= 1)
    .flatMap(([left, top, right, bottom]) => [[0.5, 0.5], [0.2, 0.5], [0.8, 0.5], [0.5, 0.2], [0.5, 0.8]]
      .map(([fx, fy]) => [left + (right - left) * fx, top + (bottom - top) * fy]));
  if (!points().length) target.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  const candidates = points();
  if (!candidates.length || getComputedStyle(target).visibility !== "visible") return refuse(`Element ${id} is not visible.`);
  const point = candidates.find(([x, y]) => belongs(deepest(x, y)));
  if (!point) return refuse(`Element ${id} is covered by something else on the page.`);

  if (verb === "select") {
    if (el.tagName !== "SELECT") return refuse(`Element ${id} is ${article} ${role}, not a dropdown.`);
    const tidy = (value) => value.replace(/\s+/g, " ").trim().toLowerCase();
    const wanted = tidy(text);
    const options = [...el.options];
    const option = options.find((o) => tidy(o.label || o.textContent) === wanted) || options.find((o) => tidy(o.value) === wanted);
    if (!option) return refuse(`Dropdown ${id} has no option "${text}".`);
    if (option.disabled) return refuse(`The option "${text}" of dropdown ${id} is disabled.`);
    el.focus();
    option.selected = true;
    el.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    el.dispatchEvent(new Event("change", { bubbles: true }));
    return ready();
  }

  if (verb === "type") {
    if (el.type === "file") return refuse(`Element ${id} takes a file; it cannot be typed into.`);
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
    if (el.isContentEditable) getSelection().selectAllChildren(el);
    else el.select();
    return ready(point[0], point[1], true);
  }

  if (verb === "click" && el.tagName === "SELECT")
    return refuse(`Element ${id} is a dropdown: choose with Select Dropdown Option.`);
  return ready(point[0], point[1]);
}
