// How the document stands after an action: {missed, scripted, loading, changed}. `missed` tells whether the click that was aimed
// before has hit something else; `scripted` whether anything but a request can change the page; `loading` whether it or a
// frame of its origin is still being parsed; `changed` whether anything of it has changed since the last time this was asked, which tells
// that something may be drawn frame by frame.
(_, { dom }, kept) => {
  const frames = (one) => [...dom.queryAllOf(one, "iframe,frame")].flatMap((frame) => withFrames(frame.contentDocument));
  const withFrames = (one) => (one ? [one, ...frames(one)] : []);
  const hasHandlers = (one) => dom.evaluate(one, "//@*[starts-with(name(), 'on')]", one, null, XPathResult.BOOLEAN_TYPE, null).booleanValue;
  const documents = withFrames(document), { aim } = kept;
  const isNew = !kept.changes;
  if (isNew) {
    kept.changes = new MutationObserver(() => { kept.changed = true; });
    kept.changes.observe(document, { subtree: true, childList: true, attributes: true });
  }
  const changed = isNew || kept.changed || kept.changes.takeRecords().length > 0;
  kept.changed = false;
  aim?.drop();
  kept.aim = null;
  return {
    missed: Boolean(aim?.missed),
    scripted: documents.length > 1 || documents.some((one) => dom.scripts(one).length || hasHandlers(one)),
    changed,
    loading: documents.some((one) => dom.readyState(one) === "loading" && dom.defaultView(one)),
  };
}
