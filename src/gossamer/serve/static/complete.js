// Completes what is typed into the search box: the combobox of ARIA 1.2 with a list. The focus
// stays in the box; without this script the box is a plain one.

const PAUSE_MS = 100; // in typing, before the server is asked

const box = document.querySelector(".box input");
const list = document.createElement("ul");
const heard = document.createElement("span"); // by whom does not see the list
let typed = ""; // by the person, not by an arrow key
let chosen = -1; // of the list; -1 is the box itself, before the first and after the last
let waiting = 0;
let asked = new AbortController();

list.id = "completions";
list.hidden = true;
list.setAttribute("role", "listbox");
list.setAttribute("aria-label", "Completions");
heard.className = "unseen";
heard.setAttribute("role", "status");
box.after(list, heard);
box.setAttribute("role", "combobox");
box.setAttribute("aria-autocomplete", "list");
box.setAttribute("aria-controls", list.id);
box.setAttribute("aria-expanded", "false");

function forget() {
  clearTimeout(waiting);
  asked.abort();
}

function close() {
  forget();
  list.hidden = true;
  list.replaceChildren();
  chosen = -1;
  heard.textContent = "";
  box.setAttribute("aria-expanded", "false");
  box.removeAttribute("aria-activedescendant");
}

async function ask() {
  asked = new AbortController();
  try {
    const address = "/api/complete?" + new URLSearchParams({ q: typed });
    const answer = await fetch(address, { signal: asked.signal });
    if (answer.ok) {
      const { completions } = await answer.json();
      show(completions);
    } else {
      close();
    }
  } catch (error) {
    if (error.name !== "AbortError") close(); // the server is away
  }
}

function show(completions) {
  close();
  if (completions.length === 0) return;
  list.append(...completions.map(option));
  list.hidden = false;
  box.setAttribute("aria-expanded", "true");
  heard.textContent = completions.length === 1 ? "1 completion" : completions.length + " completions";
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
  forget();
  typed = box.value;
  if (typed.trim() === "") {
    close();
  } else {
    waiting = setTimeout(ask, PAUSE_MS);
  }
}

box.addEventListener("input", (event) => event.isComposing || changed());
box.addEventListener("compositionend", changed); // of an input method
box.addEventListener("blur", close);
box.form.addEventListener("submit", close);
box.addEventListener("keydown", (event) => {
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && !list.hidden) {
    box.value = typed;
    close();
  } else if (event.key === "ArrowDown" && list.hidden && box.value.trim()) {
    forget();
    typed = box.value;
    ask();
  } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && !list.hidden) {
    move(event.key === "ArrowDown" ? 1 : -1);
  } else {
    return;
  }
  event.preventDefault();
});
list.addEventListener("mousedown", (event) => event.preventDefault()); // which would take the focus
list.addEventListener("click", (event) => {
  const one = event.target.closest("li");
  if (one === null) return;
  box.value = one.textContent;
  box.form.requestSubmit();
});
