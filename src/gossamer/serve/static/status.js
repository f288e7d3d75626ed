// Shows the page anew every three seconds while someone looks at it.
"use strict";

async function refresh() {
  if (document.visibilityState === "visible") {
    try {
      const answer = await fetch(location.href, { cache: "no-store" });
      if (answer.ok) {
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
        const shown = document.querySelector("main");
        const open = shown.querySelector("details")?.open ?? false;
        // Whoever is reading a table by keyboard shall not lose their place.
        if (!shown.contains(document.activeElement)) {
          fresh.querySelector("details")?.toggleAttribute("open", open);
          shown.replaceWith(fresh.querySelector("main"));
        }
      }
    } catch {
      // The server is away; what was last seen stays.
    }
  }
  setTimeout(refresh, 3000);
}

setTimeout(refresh, 3000);
