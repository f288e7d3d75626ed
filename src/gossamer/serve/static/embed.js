// A search box with instant results for any site:
//
//   <script src="https://search.example.org/embed.js" data-site="www.example.org"></script>
//
// The box appears behind the script, or in the element that data-target names. It is a combobox
// with a listbox (ARIA Authoring Practices Guide); the focus stays in the box. docs/front-ends.md
// describes the attributes.
//
// Everything is in a shadow root, so that styles of the site and ours do not meet. Texts of pages
// only become text nodes. A Content-Security-Policy has to allow the server in script-src and
// connect-src, and nothing else: styles are a constructed sheet, and no HTML is parsed.
"use strict";

(() => {
  const PAUSE_MS = 60; // without typing, before results are requested

  const script = document.currentScript;
  const options = {
    target: "", // CSS selector of the element that gets the box
    site: "", // only pages of this host or domain, or below this address
    limit: "6", // results, at most 20
    language: document.documentElement.lang.slice(0, 2), // its pages are preferred
    results: new URL("search", script.src).href, // page with all results, for the key Enter
    label: "Search",
    one: "1 result",
    many: "{n} results",
    none: "No results",
    failed: "Search is not available",
    ...script.dataset,
  };

  const STYLES = `
    :host { display: block; }
    * { box-sizing: border-box; }
    .box {
      all: initial;
      --paper: #fff; --ink: #1c2230; --quiet: #5d6678; --line: #7c8598; --raised: #eef0f6;
      --link: #2440b8; --accent: #4f6bed; --mark: #fff1b8;
      color-scheme: inherit; display: block; position: relative; direction: inherit;
      font: 16px/1.45 system-ui, sans-serif; font-family: inherit; color: var(--ink);
    }
    @supports (color: light-dark(#fff, #000)) {
      .box {
        --paper: light-dark(#fff, #14171e); --ink: light-dark(#1c2230, #e3e7ef);
        --quiet: light-dark(#5d6678, #98a2b5); --line: light-dark(#7c8598, #6b7488);
        --raised: light-dark(#eef0f6, #262c38); --link: light-dark(#2440b8, #9db2ff);
        --accent: light-dark(#4f6bed, #7d94ff); --mark: light-dark(#fff1b8, #4a4217);
      }
    }
    input {
      appearance: none; width: 100%; margin: 0; padding: .55em .8em; font: inherit;
      color: inherit; background: var(--paper); border: 1px solid var(--line); border-radius: .5em;
    }
    input::placeholder { color: var(--quiet); opacity: 1; }
    input:focus { outline: 2px solid var(--accent); outline-offset: 1px; }
    .popup {
      position: absolute; z-index: 2147483647; inset: calc(100% + .3em) 0 auto; overflow-y: auto;
      max-height: min(70vh, 36em); background: var(--paper); border: 1px solid var(--line);
      border-radius: .5em; box-shadow: 0 .5em 1.5em rgb(0 0 0 / 22%);
    }
    [hidden] { display: none; }
    a {
      display: block; padding: .5em .8em; color: inherit; text-decoration: none;
      overflow-wrap: anywhere; border-inline-start: 3px solid transparent;
    }
    a:hover, a[aria-selected=true] { background: var(--raised); }
    a[aria-selected=true] { border-color: var(--accent); }
    .title { display: block; color: var(--link); font-weight: 600; }
    .text { display: block; font-size: .875em; color: var(--ink); }
    mark { background: var(--mark); color: inherit; font-weight: 600; }
    .message { padding: .5em .8em; color: var(--quiet); font-size: .875em; }
    .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
    @media (forced-colors: active) { a[aria-selected=true] { outline: 2px solid Highlight; } }
  `;

  let input, list, popup;
  let message; // in place of the list
  let status; // the same for screen readers, and the number of results
  let chosen = -1; // index of the selected option; -1 is the box itself
  let timer = 0;
  let request = new AbortController();

  function make(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  function build(place) {
    const host = make("div", { class: "gossamer-search" });
    const root = host.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLES);
    root.adoptedStyleSheets = [sheet];
    input = make("input", {
      type: "search", role: "combobox", "aria-label": options.label, placeholder: options.label,
      "aria-autocomplete": "list", "aria-controls": "list", "aria-expanded": "false",
      autocomplete: "off", autocapitalize: "none", spellcheck: "false", enterkeyhint: "search",
    });
    list = make("div", { id: "list", role: "listbox", "aria-label": options.label, hidden: "" });
    message = make("div", { class: "message", "aria-hidden": "true" });
    popup = make("div", { class: "popup", hidden: "" }, list, message);
    status = make("div", { class: "unseen", role: "status" });
    root.append(make("div", { class: "box" }, input, popup, status));
    input.addEventListener("input", (event) => event.isComposing || changed());
    input.addEventListener("compositionend", changed); // an input method has finished a word
    input.addEventListener("keydown", pressed);
    input.addEventListener("blur", close);
    popup.addEventListener("mousedown", (event) => event.preventDefault()); // keep the focus
    place(host);
  }

  function cancel() {
    clearTimeout(timer);
    request.abort();
  }

  function close() {
    cancel();
    show([], "");
  }

  function changed() {
    cancel();
    if (input.value.trim() === "") close();
    else timer = setTimeout(ask, PAUSE_MS);
  }

  async function ask() {
    request = new AbortController();
    const { signal } = request;
    const address = new URL("api/v1/instant", script.src);
    address.searchParams.set("q", input.value);
    for (const name of ["site", "limit", "language"]) {
      if (options[name]) address.searchParams.set(name, options[name]);
    }
    try {
      const answer = await fetch(address, { signal, credentials: "omit" });
      if (!answer.ok) throw new Error(answer.statusText);
      const { hits } = await answer.json();
      show(hits.filter((hit) => /^https?:/i.test(hit.url)), options.none);
    } catch {
      if (!signal.aborted) show([], options.failed); // refused, or the server cannot be reached
    }
  }

  // Shows results, or a text in their place; nothing if both are empty.
  function show(hits, text) {
    chosen = -1;
    input.removeAttribute("aria-activedescendant");
    list.replaceChildren(...hits.map(option));
    list.hidden = hits.length === 0;
    message.hidden = hits.length > 0;
    message.textContent = text;
    popup.hidden = hits.length === 0 && text === "";
    input.setAttribute("aria-expanded", String(hits.length > 0));
    const count = hits.length === 1 ? options.one : options.many.replace("{n}", hits.length);
    status.textContent = hits.length > 0 ? count : text;
  }

  function option({ url, title, snippet }, number) {
    const pieces = snippet.map((text, place) => (place % 2 ? make("mark", {}, text) : text));
    return make(
      "a",
      { role: "option", id: "option-" + number, "aria-selected": "false", tabindex: "-1", href: url },
      make("span", { class: "title", dir: "auto" }, title || url),
      make("span", { class: "text", dir: "auto" }, ...pieces),
    );
  }

  function move(step) {
    const places = list.children.length + 1;
    list.children[chosen]?.setAttribute("aria-selected", "false");
    chosen = ((chosen + 1 + step + places) % places) - 1;
    const one = list.children[chosen];
    if (one) {
      one.setAttribute("aria-selected", "true");
      one.scrollIntoView({ block: "nearest" });
      input.setAttribute("aria-activedescendant", one.id);
    } else {
      input.removeAttribute("aria-activedescendant");
    }
  }

  function openResults() {
    const text = input.value.trim();
    if (text === "") return;
    const address = new URL(options.results, document.baseURI);
    address.searchParams.set("q", options.site ? `${text} site:${options.site}` : text);
    location.assign(address);
  }

  function pressed(event) {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    const open = !list.hidden;
    if (event.key === "Escape" && !popup.hidden) close();
    else if (event.key === "ArrowDown" && !open && input.value.trim()) ask();
    else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && open) {
      move(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter" && chosen >= 0) list.children[chosen].click();
    else if (event.key === "Enter") openResults();
    else return;
    event.preventDefault();
  }

  function start() {
    const target = options.target && document.querySelector(options.target);
    if (target) build((host) => target.append(host));
    else if (options.target || !document.body?.contains(script)) {
      console.error("embed.js: no element for the search box: see data-target");
    } else build((host) => script.after(host));
  }

  if (options.target && document.readyState === "loading") {
    document.addEventListener("DOMContentLoaded", start);
  } else start();
})();
