// Resolves when the browser has painted twice: what is drawn frame by frame, as fading in, has then come to its end.
() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(null))))
