// Building the page. Everything that a page, a model or a file wrote goes in as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value") node.value = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

export async function ask(path, parameters = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== "" && value !== undefined && value !== null);
  const answer = await fetch(`${path}?${new URLSearchParams(given)}`);
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error || answer.statusText);
  return body;
}

export const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)} %`;
export const seconds = (value) => (value >= 100 ? `${value.toFixed(0)} s` : `${value.toFixed(1)} s`);
export const link = (view, parameters) => `#/${view}?${new URLSearchParams(parameters)}`;

export function outcome(reward) {
  if (reward === null || reward === undefined) return h("span", { class: "badge none" }, "no verdict");
  return reward === 1 ? h("span", { class: "badge passed" }, "passed") : h("span", { class: "badge failed" }, "failed");
}

export const runTitle = (name, root) => (name === "." ? root : name);
