// Resolves when the document is parsed and its DOM has been quiet. Argument: {quiet_ms, limit_ms, change_ms}: how long
// is quiet, when to give up, and (for Wait) how long to wait for a first change.
async ({ quiet_ms, limit_ms, change_ms }) => {
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const end = performance.now() + limit_ms;
  let changed = 0;
  if (document.readyState === "loading")
    await Promise.race([new Promise((resolve) => addEventListener("DOMContentLoaded", resolve, { once: true })), pause(limit_ms)]);
  // Without a script or handler nothing but a request can change the page, and requests are watched from outside.
  const attributes = document.evaluate("//@*[starts-with(name(), 'on')]", document, null, XPathResult.BOOLEAN_TYPE, null);
  if (!document.scripts.length && !attributes.booleanValue && !change_ms) return pause(0);

  const observer = new MutationObserver(() => { changed = performance.now(); });
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  const started = performance.now();
  const parsed = performance.getEntriesByType("navigation")[0]?.domContentLoadedEventEnd || 0;
  const young = parsed && started - parsed < quiet_ms; // a fresh document has been quiet since it was parsed
  const quietSince = () => changed || (young ? parsed : started);
  while (change_ms && !changed && performance.now() < Math.min(started + change_ms, end)) await pause(20);
  for (let left; (left = quiet_ms - (performance.now() - quietSince())) > 0 && performance.now() < end; ) await pause(left);
  observer.disconnect();
}
