// Resolves when the document and its frames of the same origin are parsed and their DOM has been quiet. Argument:
// {quiet_ms, limit_ms, change_ms}: how long is quiet, when to give up, and (for Wait) how long to wait for a first change.
// Tells whether the click that was aimed before has missed.
async ({ quiet_ms, limit_ms, change_ms }, { dom }, kept) => {
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const parsing = (one) => dom.readyState(one) === "loading" && dom.defaultView(one);
  const frames = (one) => [...dom.queryAllOf(one, "iframe,frame")].flatMap((frame) => withFrames(frame.contentDocument));
  const withFrames = (one) => (one ? [one, ...frames(one)] : []);
  const missed = () => {
    const { aim } = kept;
    aim?.drop();
    kept.aim = null;
    return Boolean(aim?.missed);
  };
  const end = performance.now() + limit_ms;
  let changed = 0;
  if (dom.readyState(document) === "loading")
    await Promise.race([new Promise((resolve) => addEventListener("DOMContentLoaded", resolve, { once: true })), pause(limit_ms)]);
  while (frames(document).some(parsing) && performance.now() < end) await pause(10);
  // Without a script or handler nothing but a request can change the page, and requests are watched from outside.
  const hasHandlers = (one) => dom.evaluate(one, "//@*[starts-with(name(), 'on')]", one, null, XPathResult.BOOLEAN_TYPE, null).booleanValue;
  const documents = withFrames(document);
  if (!change_ms && !documents.some((one) => dom.scripts(one).length || hasHandlers(one))) {
    await pause(0);
    return missed();
  }

  const observer = new MutationObserver(() => { changed = performance.now(); });
  for (const one of documents) observer.observe(one, { subtree: true, childList: true, attributes: true, characterData: true });
  const started = performance.now();
  const parsed = performance.getEntriesByType("navigation")[0]?.domContentLoadedEventEnd || 0;
  const young = parsed && started - parsed < quiet_ms; // a fresh document has been quiet since it was parsed
  const quietSince = () => changed || (young ? parsed : started);
  while (change_ms && !changed && performance.now() < Math.min(started + change_ms, end)) await pause(20);
  for (let left; (left = quiet_ms - (performance.now() - quietSince())) > 0 && performance.now() < end; ) await pause(left);
  observer.disconnect();
  return missed();
}
