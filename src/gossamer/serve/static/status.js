// Updates the page every three seconds while it is visible.
"use strict";

async function refresh() {
  if (document.visibilityState === "visible") {
    try {
      const answer = await fetch(location.href, { cache: "no-store" });
      if (answer.ok) {
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
        const shown = document.querySelector("main");
        const open = [...shown.querySelectorAll("details")].map((details) => details.open);
        // Do not move the focus of somebody who scrolls a table by keyboard.
        if (!shown.contains(document.activeElement)) {
          fresh.querySelectorAll("main details").forEach((details, n) => { details.open = open[n] ?? false; });
          shown.replaceWith(fresh.querySelector("main"));
        }
      }
    } catch {
      // The server cannot be reached; keep showing the last state.
    }
  }
  setTimeout(refresh, 3000);
}

setTimeout(refresh, 3000);
