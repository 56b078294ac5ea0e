// All text of the page, in the viewport or not, and after it that of its frames of the same origin.
(limit, { cut, dom }) => {
  const textOf = (one) => {
    const body = one && dom.body(one);
    const frames = one ? [...dom.queryAllOf(one, "iframe,frame")] : [];
    return [(body && dom.innerText(body)) || "", ...frames.map((frame) => textOf(frame.contentDocument))].filter(Boolean).join("\n");
  };
  return cut(textOf(document), limit); // a trajectory keeps it, and a page can be of any size
}
