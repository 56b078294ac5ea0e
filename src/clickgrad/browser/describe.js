// What a thing on the page is to somebody who looks at it: its name, what it holds, and how it stands. Makes the functions
// that observe.js asks. Knows nothing of where things are, except that siblings are compared with each other.
(reach) => {
  const { dom } = reach;
  const FORMATS = { date: "YYYY-MM-DD", time: "HH:MM", month: "YYYY-MM", week: "YYYY-Www", "datetime-local": "YYYY-MM-DDTHH:MM" };
  const CHECKED = /^(checkbox|radio|switch|menuitemcheckbox|menuitemradio)$/;
  const SIBLINGS = 60; // more are not compared: such a list is data
  const MARKED = /(^|[\s_-])(active|selected|current|is-on|checked|highlighted)([\s_-]|$)/i;
  const UNREAD = /(^|[\s_-])(unread|unseen|new)([\s_-]|$)/i;
  const LETTER = /[\p{L}\p{N}]/u;
  const PRIVATE = /[\u200b-\u200f\ue000-\uf8ff]/g; // the glyphs of icon fonts say nothing

  const tidy = (text) => (text || "").replace(/\s+/g, " ").trim();
  const saysSomething = (text) => LETTER.test(text);
  const textOf = (el) => tidy((dom.innerText(el) ?? dom.textContent(el) ?? "").trim().replace(/\s*\n\s*/g, ", ").replace(PRIVATE, ""));
  const textIn = (el) => (el ? dom.textContent(el) : "") || "";

  // --- names ---

  const fieldLabel = (el) => {
    const ids = tidy(dom.getAttribute(el, "aria-labelledby"));
    const named = ids && tidy(ids.split(" ").map((id) => textIn(dom.byId(dom.getRootNode(el), id))).join(" "));
    return named || tidy(dom.getAttribute(el, "aria-label"));
  };
  const pieces = (root, leaveOut, between = " ") => {
    let text = "";
    const collect = (node) => {
      if (dom.nodeType(node) === 3) text += node.data;
      else if (dom.nodeType(node) === 1 && !dom.matches(node, leaveOut) && !(dom.matches(node, "a") && !saysSomething(textIn(node)))) {
        dom.childNodes(node).forEach(collect);
        text += between === " " || getComputedStyle(node).display === "inline" ? " " : between;
      }
    };
    dom.childNodes(root).forEach(collect);
    return tidy(text).replace(/\s*,(\s*,)*\s*/g, ", ").replace(/^, |,\s*$/g, "");
  };
  const labelWords = (label) => pieces(label, "select,textarea,button,script,style");
  const labelText = (label) => labelWords(label).replace(/\s*[:*]+$/, "");
  const labelsOf = (el) => (dom.tagName(el) === "FORM" ? [] : [...(el.labels || [])]);
  const ownLabel = (el) => (fieldLabel(el) ? null : labelsOf(el).find(labelText) || null);
  const imageText = (el) => tidy([...dom.querySelectorAll(el, "img[alt],svg title,[role=img][aria-label]")]
    .map((i) => dom.getAttribute(i, "aria-label") || i.alt || i.textContent).join(" "));
  const words = (name) => tidy(name.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[-_.]+/g, " ")).toLowerCase();

  // What an icon is called by those who drew it: `#icon-trash`, `fa-trash`, `DeleteIcon`, `/icons/trash.svg`.
  const ICON_CLASS = /^(?:fa|fas|far|bi|icon|mdi|ti|ri|glyphicon|lucide|codicon|octicon|pi|anticon|feather|ph|la|ui-icon|el-icon)-([a-z][a-z0-9-]*)$/;
  const NO_ICON = /^(lg|sm|xs|fw|solid|regular|brands|light|spin|pulse|\dx|icon|button|only|left|right|small|large|fixed)$/;
  const iconClass = (el) => {
    for (const one of (dom.getAttribute(el, "class") || "").split(/\s+/)) {
      const found = ICON_CLASS.exec(one);
      if (found && !NO_ICON.test(found[1])) return found[1];
    }
    return "";
  };
  const drawnBy = (el) => {
    const href = dom.tagName(el) === "use" ? dom.getAttribute(el, "href") || dom.getAttribute(el, "xlink:href") || "" : "";
    const file = dom.tagName(el) === "IMG" && !dom.hasAttribute(el, "alt") ? (/([\w-]+)\.(?:svg|png|gif|webp|ico)(?:$|[?#])/.exec(el.src) || [])[1] : "";
    const id = href.includes("#") ? href.slice(href.indexOf("#") + 1).replace(/^(icon|ic|i|svg|sprite|fa|bi|mdi)[-_]/, "") : "";
    const test = /^([A-Za-z]+)Icon$/.exec(dom.getAttribute(el, "data-testid") || "");
    return id || file || dom.getAttribute(el, "data-icon") || dom.getAttribute(el, "data-lucide") || (test && test[1]) || iconClass(el);
  };
  const iconName = (el) => {
    for (const one of [el, ...dom.querySelectorAll(el, "use,svg,img,i,span,[data-icon],[data-lucide]")].slice(0, 12)) {
      const name = drawnBy(one);
      if (name) return words(name);
    }
    return "";
  };

  const HUES = [[15, "red"], [45, "orange"], [70, "yellow"], [165, "green"], [200, "cyan"], [255, "blue"], [290, "purple"], [345, "pink"], [360, "red"]];
  const colourOf = (css) => {
    const parts = (css.match(/[\d.]+/g) || []).map(Number);
    if (!/^rgb/.test(css) || (parts.length > 3 && parts[3] < 0.1)) return null;
    const [r, g, b] = parts, most = Math.max(r, g, b), least = Math.min(r, g, b), span = most - least;
    const hex = "#" + [r, g, b].map((one) => Math.round(one).toString(16).padStart(2, "0")).join("");
    if (span < 24) return { name: most > 235 ? "white" : most < 50 ? "black" : "grey", hex, strong: false };
    const turn = most === r ? ((g - b) / span + 6) % 6 : most === g ? (b - r) / span + 2 : (r - g) / span + 4;
    return { name: HUES.find(([end]) => turn * 60 <= end)[1], hex, strong: span > 60 };
  };
  // A patch of colour, such as one in a palette, is known by nothing else.
  const swatch = (el) => {
    const colour = colourOf(getComputedStyle(el).backgroundColor) || colourOf(getComputedStyle(dom.firstElementChild(el) || el).backgroundColor);
    return colour ? `${colour.name} ${colour.hex}` : "";
  };
  const SHAPES = { circle: "circle", ellipse: "ellipse", rect: "rectangle", polygon: "polygon", path: "shape", line: "line", polyline: "line", g: "group", image: "image" };
  const shape = (el) => {
    const kind = SHAPES[dom.tagName(el)], colour = kind && colourOf(getComputedStyle(el).fill);
    return kind ? tidy(`${colour ? colour.name : ""} ${kind}`) : "";
  };
  const spare = (el) => tidy(dom.getAttribute(el, "title")) || tidy(dom.getAttribute(el, "alt"));
  const isField = (el, role) => dom.matches(el, "input,select,textarea") || (role === "textbox" && dom.isContentEditable(el));
  const INNER = "button,input,select,textarea,script,style,[role=button],[role=checkbox],[role=switch],[role=menuitem]";
  const nameOf = (el, role) => {
    if (isField(el, role)) {
      if (role === "button") return tidy(el.value) || fieldLabel(el) || spare(el) || (el.type === "reset" ? "Reset" : "Submit");
      const label = ownLabel(el);
      return fieldLabel(el) || (label && labelText(label)) || hintOf(el) || spare(el) ||
        (el.type === "file" && textOf(dom.parentElement(el) || el)) || tidy(dom.getAttribute(el, "name"));
    }
    const given = fieldLabel(el);
    // Some pages make labels of their classes, ids and tags by script: those are no words for anybody.
    const own = `${dom.getAttribute(el, "class") || ""} ${dom.getAttribute(el, "id") || ""} ${dom.tagName(el)}`.split(/\s+/);
    const isWord = given.split(" ").some((word) => !own.includes(word));
    if (saysSomething(given) && isWord) return given;
    if (role === "pane") return given;
    if (role === "area") return textOf(dom.querySelector(el, "h1,h2,h3,h4,h5,h6,header") || el);
    const holds = role === "row" || (/^(button|item)$/.test(role) && dom.tagName(el) !== "BUTTON" && dom.querySelector(el, `${INNER},a`));
    const text = (holds && pieces(el, INNER, ", ")) || textOf(el);
    if (saysSomething(text)) return text;
    return given || spare(el) || imageText(el) || (text ? "" : iconName(el)) || text || spareInside(el) || painted(el) || shape(el) || swatch(el);
  };
  // What stands in a field until something is written; editors paint it.
  const hintOf = (el) => {
    const given = tidy(dom.getAttribute(el, "placeholder"));
    if (given || !dom.isContentEditable(el) || tidy(dom.textContent(el))) return given;
    return painted(el) || (dom.firstElementChild(el) ? painted(dom.firstElementChild(el)) : "");
  };
  // Words that only a stylesheet has.
  const painted = (el) => tidy((/^"(.*)"$/.exec(getComputedStyle(el, "::before").content) || [])[1]).replace(PRIVATE, "");
  const spareInside = (el) => spare(dom.querySelector(el, "[title]") || el);

  // --- what it holds ---

  const optionText = (option) => tidy(option.label || option.textContent);
  const nowOf = (el) => tidy(dom.getAttribute(el, "aria-valuetext")) || tidy(dom.getAttribute(el, "aria-valuenow"));
  const valueOf = (el, role) => {
    if (role === "select") return [...el.selectedOptions].map(optionText).join(", ");
    if (el.type === "password") return "*".repeat(el.value.length);
    if (role === "file") return [...el.files].map((file) => file.name).join(", ");
    if (CHECKED.test(role)) {
      if (el.indeterminate || dom.getAttribute(el, "aria-checked") === "mixed") return "mixed";
      const on = "checked" in el ? el.checked : dom.getAttribute(el, "aria-checked") === "true";
      return on ? "on" : "off";
    }
    if (role === "button" || role === "row" || role === "item") return "";
    if (role === "combobox" && fieldLabel(el) && !("value" in el)) return textOf(el);
    if (dom.isContentEditable(el)) return textOf(el);
    if ("value" in el && typeof el.value === "string" && (el.value || !dom.hasAttribute(el, "aria-valuetext"))) return el.value;
    return nowOf(el);
  };
  // Of what only shows a value, as a bar does.
  const gauge = (el) => {
    const tag = dom.tagName(el), role = dom.getAttribute(el, "role");
    const native = tag === "PROGRESS" || tag === "METER";
    if (!native && role !== "progressbar" && role !== "meter") return "";
    const label = fieldLabel(el) || (native && labelsOf(el).map(labelText).find(Boolean)) || tidy(dom.getAttribute(el, "title"));
    const of = (name, other) => Number(native ? el[name] ?? other : dom.getAttribute(el, { value: "aria-valuenow", max: "aria-valuemax", min: "aria-valuemin" }[name]) ?? other);
    const known = native ? dom.hasAttribute(el, "value") : dom.hasAttribute(el, "aria-valuenow");
    const [value, max, min] = [of("value", 0), of("max", native ? 1 : 100), of("min", 0)];
    const share = known && max > min ? `${Math.round((100 * (value - min)) / (max - min))}%` : "";
    return tidy(`${tag === "METER" || role === "meter" ? "meter" : "progress"} ${label || ""} ${tidy(dom.getAttribute(el, "aria-valuetext")) || share || "under way"}`);
  };
  // What an element without words says by its picture or its title.
  const pictured = (el) => {
    const tag = dom.tagName(el), own = dom.getAttribute(el, "role") === "img" ? fieldLabel(el) : "";
    if (tag === "IMG") return tidy(el.alt);
    if (tag === "svg") return own || fieldLabel(el) || tidy(textIn([...dom.children(el)].find((child) => dom.tagName(child) === "title")));
    return saysSomething(textIn(el)) ? own : own || tidy(dom.getAttribute(el, "title"));
  };

  // --- how it stands ---

  const markedRequired = (el) => {
    if (dom.getAttribute(el, "aria-required") === "true") return true;
    return labelsOf(el).some((label) => /\*\s*$/.test(labelWords(label)) || /\*/.test(getComputedStyle(label, "::after").content));
  };
  const statesOf = (el) => {
    const states = [];
    const aria = (name) => dom.getAttribute(el, "aria-" + name);
    if (dom.matches(el, ":disabled") || aria("disabled") === "true" || dom.closest(el, "[inert]")) states.push("disabled");
    if (el.readOnly && !/^(checkbox|radio|range|file|color)$/.test(el.type)) states.push("read-only");
    if (dom.matches(el, "input,select,textarea,[role=textbox],[role=combobox]") && markedRequired(el)) states.push("required");
    if (aria("invalid") === "true") states.push("invalid");
    if (FORMATS[el.type] && !el.value) states.push(FORMATS[el.type]);
    if (aria("selected") === "true") states.push("selected");
    if (aria("pressed") === "true") states.push("pressed");
    if (aria("current") && aria("current") !== "false") states.push("current");
    const sorted = aria("sort") || (dom.closest(el, "[aria-sort]") && dom.getAttribute(dom.closest(el, "[aria-sort]"), "aria-sort"));
    if (sorted && sorted !== "none") states.push(`sorted ${sorted}`);
    const open = dom.tagName(el) === "SUMMARY" ? String(el.parentElement?.open === true) : aria("expanded");
    if (open === "true") states.push("expanded");
    if (open === "false") states.push("collapsed");
    return states;
  };

  // One among its like that looks unlike them: the tab that is open, the message that is unread.
  const compared = new Map(); // parent to what was found of its children; for one observation
  const itemOf = (el) => {
    let item = el;
    for (let up = 0; up < 3; up++) {
      const parent = dom.parentElement(item);
      if (!parent || dom.children(parent).length > 1) break;
      item = parent;
    }
    return item;
  };
  const firstWords = (el) => {
    let at = el;
    for (let depth = 0; depth < 6; depth++) {
      const inner = [...dom.children(at)].find((child) => saysSomething(textIn(child)));
      if (!inner || [...dom.childNodes(at)].some((node) => dom.nodeType(node) === 3 && node.data.trim())) break;
      at = inner;
    }
    return at;
  };
  const looksOf = (item, tag) => {
    const el = dom.tagName(item) === tag ? item : dom.querySelector(item, tag.toLowerCase());
    if (!el) return null;
    const outer = getComputedStyle(item), inner = el === item ? outer : getComputedStyle(el);
    const under = (style) => (parseFloat(style.borderBottomWidth) ? style.borderBottomColor : "");
    return {
      paint: [outer.backgroundColor, inner.backgroundColor, under(outer), under(inner)].join(),
      colour: inner.color,
      bold: Number(getComputedStyle(firstWords(el)).fontWeight) >= 600,
      marked: MARKED.test(`${dom.getAttribute(item, "class") || ""} ${dom.getAttribute(el, "class") || ""}`),
    };
  };
  const compareAll = (parent, itemTag, tag) => {
    const items = [...dom.children(parent)].filter((child) => dom.tagName(child) === itemTag);
    const seen = items.length < 2 || items.length > SIBLINGS ? [] : items.map((item) => [item, looksOf(item, tag)]);
    const alike = seen.filter(([, look]) => look), looks = alike.map(([, look]) => look);
    const odd = (look, key) => looks.length > 2 && looks.filter((other) => other[key] === look[key]).length === 1 &&
      new Set(looks.map((other) => other[key])).size === 2;
    const isUnlike = (look) => looks.some((other) => other.paint !== look.paint || other.colour !== look.colour || other.bold !== look.bold);
    const isRow = /^(LI|TR|ARTICLE|DIV)$/.test(itemTag) && (itemTag !== "DIV" || tag === "DIV");
    const found = new Map();
    looks.forEach((look, at) => {
      const states = [];
      if ((look.marked && isUnlike(look) && !looks.every((other) => other.marked)) || odd(look, "paint")) states.push("active");
      if (look.bold && isRow && looks.some((other) => !other.bold)) states.push("bold");
      found.set(alike[at][0], states);
    });
    return found;
  };
  const TOLD = /^(disabled|selected|pressed|current|expanded)$/;
  const stressOf = (el, states) => {
    if (dom.matches(el, "input,select,textarea,[role=checkbox],[role=radio],[role=switch]")) return [];
    const item = itemOf(el), parent = dom.parentElement(item);
    if (!parent || states.some((state) => TOLD.test(state))) return [];
    if (!compared.has(parent)) compared.set(parent, compareAll(parent, dom.tagName(item), dom.tagName(el)));
    const found = compared.get(parent).get(item) || [];
    // A link or a button may be painted otherwise because it matters most; only a class says that it is the one chosen.
    const classes = `${dom.getAttribute(item, "class") || ""} ${dom.getAttribute(el, "class") || ""}`;
    const isPlain = dom.matches(el, "a[href],button") && !dom.hasAttribute(el, "role");
    const state = found[0];
    return !state || (isPlain && !(state === "bold" ? UNREAD : MARKED).test(classes)) ? [] : [state];
  };

  return {
    tidy, saysSomething, textOf, fieldLabel, labelText, labelsOf, ownLabel, nameOf, hintOf, optionText, valueOf, gauge, pictured, colourOf,
    statesOf, stressOf, startComparing: () => compared.clear(), pieces, INNER,
  };
}
