// Suggestions under the search field. The browser draws the list itself, so the page stays as it is.
(() => {
  const field = document.querySelector("input[name=q]");
  const list = document.getElementById("suggestions");
  if (!field || !list) return;
  const PAUSE_MS = 150;
  let timer = 0;
  let latest = "";
  const show = (names) => list.replaceChildren(...names.map((name) => new Option(name, name)));
  const ask = async (text) => {
    latest = text;
    const answer = await fetch("/suggest?q=" + encodeURIComponent(text));
    const names = answer.ok ? await answer.json() : [];
    if (text === latest) show(names);
  };
  field.addEventListener("input", () => {
    clearTimeout(timer);
    const text = field.value.trim();
    if (text.length < 2) show([]);
    else timer = setTimeout(() => ask(text).catch(() => show([])), PAUSE_MS);
  });
})();
