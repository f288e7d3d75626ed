// Completions for the search box: a combobox with a listbox (ARIA 1.2). The focus stays in the box.
// Without this script, the box is a plain input.

const PAUSE_MS = 100; // without typing, before completions are requested

const box = document.querySelector(".box input");
const list = document.createElement("ul");
const announcement = document.createElement("span"); // for screen readers
let typed = ""; // the text from the keyboard, without what an arrow key has put into the box
let chosen = -1; // index in the list; -1 is the box itself, between the last and the first
let timer = 0;
let request = new AbortController();

list.id = "completions";
list.hidden = true;
list.setAttribute("role", "listbox");
list.setAttribute("aria-label", "Completions");
announcement.className = "unseen";
announcement.setAttribute("role", "status");
box.after(list, announcement);
box.setAttribute("role", "combobox");
box.setAttribute("aria-autocomplete", "list");
box.setAttribute("aria-controls", list.id);
box.setAttribute("aria-expanded", "false");

function cancel() {
  clearTimeout(timer);
  request.abort();
}

function close() {
  cancel();
  list.hidden = true;
  list.replaceChildren();
  chosen = -1;
  announcement.textContent = "";
  box.setAttribute("aria-expanded", "false");
  box.removeAttribute("aria-activedescendant");
}

async function complete() {
  request = new AbortController();
  try {
    const address = new URL("../api/v1/complete", import.meta.url); // below any path of a site
    address.searchParams.set("q", typed);
    const answer = await fetch(address, { signal: request.signal });
    if (answer.ok) {
      const { completions } = await answer.json();
      show(completions);
    } else {
      close();
    }
  } catch (error) {
    if (error.name !== "AbortError") close(); // the server cannot be reached
  }
}

function show(completions) {
  close();
  if (completions.length === 0) return;
  list.append(...completions.map(option));
  list.hidden = false;
  box.setAttribute("aria-expanded", "true");
  announcement.textContent =
    completions.length === 1 ? "1 completion" : completions.length + " completions";
}

function option(text, number) {
  const one = document.createElement("li");
  one.id = "completion-" + number;
  one.setAttribute("role", "option");
  one.setAttribute("aria-selected", "false");
  const same = text.toLowerCase().startsWith(typed.toLowerCase()) ? typed.length : 0;
  const added = document.createElement("b");
  added.textContent = text.slice(same);
  one.append(text.slice(0, same), added);
  return one;
}

function move(step) {
  const places = list.children.length + 1;
  list.children[chosen]?.setAttribute("aria-selected", "false");
  chosen = ((chosen + 1 + step + places) % places) - 1;
  const one = list.children[chosen];
  if (one) {
    one.setAttribute("aria-selected", "true");
    one.scrollIntoView({ block: "nearest" });
    box.setAttribute("aria-activedescendant", one.id);
  } else {
    box.removeAttribute("aria-activedescendant");
  }
  box.value = one?.textContent ?? typed;
}

function changed() {
  cancel();
  typed = box.value;
  if (typed.trim() === "") {
    close();
  } else {
    timer = setTimeout(complete, PAUSE_MS);
  }
}

box.addEventListener("input", (event) => event.isComposing || changed());
box.addEventListener("compositionend", changed); // an input method has finished a word
box.addEventListener("blur", close);
box.form.addEventListener("submit", close);
box.addEventListener("keydown", (event) => {
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && !list.hidden) {
    box.value = typed;
    close();
  } else if (event.key === "ArrowDown" && list.hidden && box.value.trim()) {
    cancel();
    typed = box.value;
    complete();
  } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && !list.hidden) {
    move(event.key === "ArrowDown" ? 1 : -1);
  } else {
    return;
  }
  event.preventDefault();
});
list.addEventListener("mousedown", (event) => event.preventDefault()); // keep the focus in the box
list.addEventListener("click", (event) => {
  const one = event.target.closest("li");
  if (one === null) return;
  box.value = one.textContent;
  box.form.requestSubmit();
});
