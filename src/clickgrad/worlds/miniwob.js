// Appended to MiniWoB's core.js. Starts the problem by the seed in the address, without cover, time limit and score
// board, and tells the server what the page asks for and, when it is over, the reward it gave.
(() => {
  const DAY_MS = 24 * 60 * 60 * 1000; // longer than any episode; a timer cannot take more than 24 of them
  const seed = Number(core.QueryString.seed);
  const tell = (fact) => fetch("/told", { method: "POST", body: JSON.stringify(fact), keepalive: true });
  const show = core.startEpisode;
  const end = core.endEpisode;
  let begun = false;

  Math.seedrandom(seed);
  // Every page sets a limit of its own.
  Object.defineProperty(core, "EPISODE_MAX_TIME", { get: () => DAY_MS, set: () => {} });
  core.countdownTimer = core.clearTimer = () => {};
  const style = document.createElement("style");
  // The terminal's field follows the keys unseen; hands that type into what they see need it.
  style.textContent = `#reward-display, #click-canvas { display: none }
    #terminal-target { opacity: 1 !important; width: 20px !important; height: 10px !important }`;
  document.head.append(style);

  core.startEpisode = () => {
    show();
    core.cover_div.onclick = null; // the click that ended the problem must not start another
    if (begun) return;
    begun = true;
    Math.seedrandom(seed);
    core.startEpisodeReal();
    const said = core.getUtterance(); // some pages say it with their fields
    tell({ utterance: said.utterance ?? said });
  };
  core.endEpisode = (...judgement) => {
    const live = core.EP_TIMER !== null;
    end(...judgement);
    if (live) tell({ reward: WOB_RAW_REWARD_GLOBAL });
  };

  // What listens by script alone leaves no trace of it in the DOM: say that icons, cells and shapes are buttons, named
  // by id or class as in MiniWoB's own observations.
  const CONTROLS = "a[href],button,input,select,textarea,label,body,svg,ul,li:has(ul),[role]";
  const listen = EventTarget.prototype.addEventListener;
  const mark = (el) => {
    if (!el.isConnected || el.matches(CONTROLS)) return;
    if (el.children.length && el.tagName !== "A" && getComputedStyle(el).cursor !== "pointer") return; // a container
    el.setAttribute("role", "button");
    el.setAttribute("aria-label", el.id || el.getAttribute("class") || el.tagName);
  };
  EventTarget.prototype.addEventListener = function (type, ...rest) {
    if (this instanceof Element && (type === "click" || type === "mousedown")) mark(this);
    return listen.call(this, type, ...rest);
  };
})();
