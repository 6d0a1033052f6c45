// Keeps the parts of a page that are marked data-live fresh: fetches the page again and swaps them in.
// Without it the page is the same, as of its last load.
"use strict";

const BUSY_MS = 1200; // while a job on the page may still move
const IDLE_MS = 4000;

const regions = document.querySelectorAll("[data-live]");

async function refresh() {
  const response = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!response.ok) return;
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
  for (const region of regions) {
    const now = fresh.getElementById(region.id);
    // A link that has the focus stays where it is; the next round will do.
    if (!now || region.contains(document.activeElement)) continue;
    if (now.innerHTML !== region.innerHTML) region.replaceChildren(...now.childNodes);
  }
}

async function keepFresh() {
  if (!document.hidden) {
    try {
      await refresh();
    } catch {
      // The site is away; a later round will find it.
    }
  }
  const busy = document.querySelector("[data-moving]") !== null;
  setTimeout(keepFresh, busy ? BUSY_MS : IDLE_MS);
}

if (regions.length > 0) {
  document.querySelectorAll("[data-reload]").forEach((link) => { link.hidden = true; });
  setTimeout(keepFresh, BUSY_MS);
}
