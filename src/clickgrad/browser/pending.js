// Runs in every document before the page's own scripts, in the page's world, for only there can timers be counted:
// what an action has set going and is not over. Our own world asks by an event, whose name no page knows; the answer is
// whether it is cancelled. A page can forge no more than the answer "not yet", for which there is a bound.
// Arguments: the event's name, and by how much the page's clock is ahead of everybody's.
(channel, ahead_ms) => {
  const SHORT_MS = 1000; // timers that take longer are for something else
  const TICK_MS = 50; // shorter intervals draw, longer ones poll
  const CHAIN_MS = 800; // timers of one length that follow one another: what goes on for longer polls
  const FRAME_MS = 16, CLAMP_MS = 4;
  const TRAVEL_MS = 200;
  const { apply, construct } = Reflect;
  const { prototype: node } = EventTarget;
  const listen = node.addEventListener, cancel = Event.prototype.preventDefault, then = Promise.prototype.then;
  const timeout = window.setTimeout, frame = window.requestAnimationFrame;
  const open = Object.create(null); // by the timer's number
  let spent = Object.create(null); // ms in chains, by the timer's length
  let era = 0; // begins with every action
  let count = 0; // of this era's
  let stale = false; // whether what runs now was set going before this era

  const answer = (event) => { if (count > 0) apply(cancel, event, []); };
  const renew = () => { era += 1; count = 0; spent = Object.create(null); };
  // Again and again, for `document.open` takes listeners away.
  const attend = () => {
    apply(listen, window, [channel, answer]);
    apply(listen, window, [`${channel}-new`, renew]);
  };
  const begin = (ms) => {
    attend();
    const before = spent[ms] ?? 0, counts = !stale && ms <= SHORT_MS && (!before || before + ms <= CHAIN_MS);
    if (counts) count += 1;
    return { era: stale ? -1 : era, ms, counts };
  };
  const end = (task) => {
    if (task.counts && task.era === era) count -= 1;
    task.counts = false;
  };
  const enter = (task) => { stale = task.era !== era; };
  const leave = (task) => {
    if (task.counts && task.era === era) spent[task.ms] = (spent[task.ms] ?? 0) + Math.max(task.ms, CLAMP_MS);
    stale = false;
    delete open[task.id];
    end(task);
  };
  const wrap = (owner, name, trap) => { owner[name] = new Proxy(owner[name], { apply: trap }); };
  const drop = (target, self, given) => {
    if (open[given[0]]) end(open[given[0]]);
    return apply(target, self, given);
  };

  // Timers of one length run in the order in which they were made: one before the page's own and one after it say what
  // belongs to it, what its promises do included. The page's function is left as it is.
  wrap(window, "setTimeout", (target, self, given) => {
    const task = begin(typeof given[1] === "number" && given[1] > 0 ? given[1] : 0);
    timeout(enter, task.ms, task);
    try {
      task.id = apply(target, self, given);
      open[task.id] = task;
      return task.id;
    } finally {
      timeout(leave, task.ms, task);
    }
  });
  wrap(window, "requestAnimationFrame", (target, self, given) => {
    const task = begin(FRAME_MS);
    frame(() => enter(task));
    try {
      return apply(target, self, given);
    } finally {
      frame(() => leave(task));
    }
  });
  wrap(window, "setInterval", (target, self, given) => {
    const id = apply(target, self, given);
    if (!(given[1] > TICK_MS)) open[id] = begin(FRAME_MS);
    return id;
  });
  wrap(window, "clearTimeout", drop);
  wrap(window, "clearInterval", drop);
  wrap(window, "fetch", (target, self, given) => {
    const task = begin(0), done = () => end(task), answered = apply(target, self, given);
    apply(then, answered, [done, done]);
    return answered;
  });
  wrap(XMLHttpRequest.prototype, "send", (target, self, given) => {
    const task = begin(0);
    apply(listen, self, ["loadend", () => end(task), { once: true }]);
    return apply(target, self, given);
  });
  // Travelling begins elsewhere, in the browser; a document that stays goes on without it.
  for (const name of ["back", "forward", "go"])
    wrap(History.prototype, name, (target, self, given) => {
      timeout(end, TRAVEL_MS, begin(0));
      return apply(target, self, given);
    });
  if (ahead_ms) {
    const now = Date.now;
    const shift = (target, given, made) => construct(target, given.length ? given : [now() + ahead_ms], made);
    window.Date = new Proxy(Date, {
      construct: shift,
      apply: (target) => apply(target.prototype.toString, shift(target, [], target), []),
    });
    Date.prototype.constructor = Date;
    Date.now = () => now() + ahead_ms;
  }
  attend();
}
