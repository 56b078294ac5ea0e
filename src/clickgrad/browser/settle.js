// Resolves when the document and its frames of the same origin are parsed, nothing that pending.js counts is pending, what
// moves has arrived, and two frames have been painted. Argument: {channel, quiet_ms, limit_ms, change_ms}: how pending.js
// is asked, for how long the DOM must have been quiet besides, when to give up, and (for Wait) how long to wait for a first
// change. Tells whether the click that was aimed before has missed.
async ({ channel, quiet_ms, limit_ms, change_ms }, { dom }, kept) => {
  const POLL_MS = 4;
  const LATE_MS = 40; // a page in the background paints no frames, and a busy one is never idle
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const frame = () => Promise.race([new Promise((resolve) => requestAnimationFrame(resolve)), pause(LATE_MS)]);
  const idle = () => new Promise((resolve) => requestIdleCallback(resolve, { timeout: LATE_MS }));
  const parsing = (one) => dom.readyState(one) === "loading" && dom.defaultView(one);
  const frames = (one) => [...dom.queryAllOf(one, "iframe,frame")].flatMap((frame) => withFrames(frame.contentDocument));
  const withFrames = (one) => (one ? [one, ...frames(one)] : []);
  const end = performance.now() + limit_ms;
  const isOver = () => performance.now() >= end;
  const ask = (name, one) => {
    const view = dom.defaultView(one);
    return view && !EventTarget.prototype.dispatchEvent.call(view, new Event(name, { cancelable: true }));
  };
  // What is set going from here on belongs to the next action.
  kept.begin = () => withFrames(document).forEach((one) => ask(`${channel}-new`, one));
  const finish = () => {
    const { aim } = kept;
    aim?.drop();
    kept.aim = null;
    kept.begin();
    return Boolean(aim?.missed);
  };
  if (dom.readyState(document) === "loading")
    await Promise.race([new Promise((resolve) => addEventListener("DOMContentLoaded", resolve, { once: true })), pause(limit_ms)]);
  while (frames(document).some(parsing) && !isOver()) await pause(POLL_MS);
  // Without a script or handler nothing but a request can change the page, and requests are watched from outside.
  const hasHandlers = (one) => dom.evaluate(one, "//@*[starts-with(name(), 'on')]", one, null, XPathResult.BOOLEAN_TYPE, null).booleanValue;
  const documents = withFrames(document);
  if (!change_ms && !documents.some((one) => dom.scripts(one).length || hasHandlers(one))) {
    await pause(0);
    return finish();
  }

  const started = performance.now();
  let changed = 0;
  const observer = new MutationObserver(() => { changed = performance.now(); });
  for (const one of documents) observer.observe(one, { subtree: true, childList: true, attributes: true, characterData: true });
  while (change_ms && !changed && performance.now() < started + change_ms && !isOver()) await pause(20);
  const moves = (one) => dom.getAnimations(one).some(({ playState, effect }) =>
    playState === "running" && effect.getComputedTiming().endTime - effect.getComputedTiming().localTime < limit_ms);
  const pending = () => withFrames(document).some((one) => ask(channel, one) || moves(one));
  const isLoud = () => performance.now() - Math.max(changed, started) < quiet_ms;
  do {
    while (pending() && !isOver()) await pause(POLL_MS);
    await frame();
    await idle();
    while (isLoud() && !isOver()) await pause(POLL_MS);
  } while (pending() && !isOver());
  observer.disconnect();
  return finish();
}
