// All text of the page, in the viewport or not, and after it that of its frames of the same origin.
() => {
  const textOf = (one) => [
    one?.body?.innerText || "",
    ...[...(one?.querySelectorAll("iframe,frame") || [])].map((frame) => textOf(frame.contentDocument)),
  ].filter(Boolean).join("\n");
  return textOf(document).slice(0, 1e6); // a trajectory keeps it, and a page can be of any size
}
