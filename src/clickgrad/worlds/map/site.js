// Moves the drawn map with the mouse or a finger: everything else works without.
(() => {
  const panel = document.querySelector(".panel");
  const drawn = panel && panel.querySelector(".drawn");
  if (!drawn) return;
  const box = drawn.viewBox.baseVal;
  const home = { x: box.x, y: box.y };
  const live = panel.dataset.live === "yes"; // a map with controls goes on where the drag ends
  const MARGIN = 0.18; // so much more than the view is drawn
  const NORTH = 52.62, WEST = 3.1, METERS_PER_LATITUDE = 111320, METERS_PER_LONGITUDE = 67600;
  let start = null;

  const open = (zoom) => {
    const x = box.x + box.width / 2, y = box.y + box.height / 2;
    const at = [NORTH - y / METERS_PER_LATITUDE, WEST + x / METERS_PER_LONGITUDE].map((n) => n.toFixed(4)).join(",");
    location.href = `/map?at=${at}&zoom=${zoom}`;
  };

  drawn.addEventListener("dragstart", (event) => event.preventDefault());
  drawn.addEventListener("pointerdown", (event) => {
    if (event.button === 0) start = { x: event.clientX, y: event.clientY, boxX: box.x, boxY: box.y, moved: false };
  });
  addEventListener("pointermove", (event) => {
    if (!start) return;
    const scale = box.width / Math.max(drawn.clientWidth, (drawn.clientHeight * box.width) / box.height);
    const dx = (event.clientX - start.x) * scale, dy = (event.clientY - start.y) * scale;
    start.moved = start.moved || Math.hypot(event.clientX - start.x, event.clientY - start.y) > 4;
    const keep = (value, origin, size) => (live ? value : Math.min(origin + MARGIN * size, Math.max(origin - MARGIN * size, value)));
    box.x = keep(start.boxX - dx, home.x, box.width);
    box.y = keep(start.boxY - dy, home.y, box.height);
  });
  addEventListener("pointerup", () => {
    const moved = start && start.moved;
    start = null;
    if (moved && live) open(panel.dataset.zoom);
  });
  drawn.addEventListener("click", (event) => {
    if (box.x !== home.x || box.y !== home.y) event.preventDefault(); // the end of a drag, not a click on a place
  }, true);
  drawn.addEventListener("wheel", (event) => {
    if (!live || !event.deltaY) return;
    event.preventDefault();
    const link = panel.querySelector(event.deltaY < 0 ? ".to-zoom-in" : ".to-zoom-out");
    if (link) location.href = link.href;
  }, { passive: false });
})();
