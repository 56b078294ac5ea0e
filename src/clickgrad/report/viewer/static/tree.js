// The episodes of a group as a tree: a lane for each, a dot for each turn, and a line where one leaves another.

import { h, link, s } from "./dom.js";

const STEP = 34, LANE = 26, LEFT = 16, TOP = 16;

const kind = (member) => (member.reward === 1 ? "passed" : member.reward === null ? "none" : "failed");

function lanes(members) {
  // A branch comes right below the episode that it leaves.
  const known = new Set(members.map((member) => member.id));
  const below = (id) => members.filter((member) => (known.has(member.leaves) ? member.leaves : null) === id);
  const walk = (id) => below(id).flatMap((member) => [member, ...walk(member.id)]);
  return walk(null);
}

function lane(member, row, rows, x, shown) {
  const y = TOP + row * LANE, trunk = rows.findIndex((other) => other.id === member.leaves);
  const parts = [];
  if (trunk >= 0) {
    const from = TOP + trunk * LANE, at = x(member.given - 1);
    parts.push(s("path", { d: `M${at} ${from} C${at} ${y} ${at} ${y} ${x(member.given)} ${y}`, class: "way" }));
  } else if (member.given) {
    parts.push(s("line", { x1: x(0), x2: x(member.given), y1: y, y2: y, class: "way given" },
      s("title", {}, `${member.given} turns given: ${member.source === "demo" ? "of a demonstration" : "of an earlier success"}`)));
  }
  if (member.turns > member.given) parts.push(s("line", { x1: x(member.given), x2: x(member.turns - 1), y1: y, y2: y, class: "way" }));
  for (let turn = member.given; turn < member.turns; turn += 1) {
    const here = member.id === shown;
    parts.push(s("a", { href: link("episode", { a: member.id, turn }) },
      s("circle", { cx: x(turn), cy: y, r: turn === member.turns - 1 ? 7 : 5, class: `${kind(member)}${here ? " this" : ""}` },
        s("title", {}, `turn ${turn + 1} of ${member.turns}, ${kind(member) === "none" ? "no verdict" : kind(member)}`))));
  }
  return parts;
}

export function tree(episode) {
  const { members } = episode;
  if (!members.some((member) => member.given)) return null;
  const rows = lanes(members), longest = Math.max(...members.map((member) => member.turns));
  const x = (turn) => LEFT + turn * STEP;
  const width = x(longest - 1) + LEFT, height = TOP * 2 + (rows.length - 1) * LANE;
  const drawn = s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": "The group's episodes as a tree" },
    rows.map((member, row) => lane(member, row, rows, x, episode.id)));
  return h("div", { class: "tree" }, drawn,
    h("p", { class: "soft small" }, "A line is an episode of the group, a dot a turn that it chose. One that leaves another had the turns before given to it; dashes are turns of a demonstration or an earlier success."));
}
