// Makes pages live, and keeps scores that were typed until the scorebook has them. Every page works without it.
"use strict";

const status = document.getElementById("status");

function say(text, ...buttons) {
  status.replaceChildren(...(text ? [text] : []), ...buttons);
}

function button(text, action) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = text;
  button.addEventListener("click", action);
  return button;
}

// Live: when the scorebook has changed, the page is asked for again, and its parts that changed take the place of the old ones.

let isRefreshing = false;
let isStale = false;

// Whether somebody has typed in a field. Browsers take line breaks out of what an input has, and not out of what it began with.
function isTyped(field) {
  const plain = (text) => text.replace(/[\r\n]/g, "");
  return plain(field.value) !== plain(field.defaultValue);
}

function isTicked(box) {
  return box.checked !== box.defaultChecked;
}

// A list that says nothing of what is chosen begins with its first line.
function isChosen(list) {
  return list.selectedIndex !== Math.max(0, [...list.options].findLastIndex((line) => line.defaultSelected));
}

// Whether somebody has written here what is still to be sent. A form that came back for a slip holds that from its beginning.
function isTyping() {
  const holds = (kind, isChanged) => [...document.querySelectorAll(kind)].some(isChanged);
  if (document.querySelector("[data-typed]")) return true;
  return holds("input, textarea", isTyped) || holds("input", isTicked) || holds("select", isChosen);
}

async function refresh() {
  isStale = true;
  if (isRefreshing) return;
  isRefreshing = true;
  try {
    while (isStale) {
      isStale = false;
      const answer = await fetch(location.href, { credentials: "same-origin" });
      // Shut out: nothing that this browser has seen stays on the screen, unless somebody has written here what is still to be sent.
      if (answer.status === 401 && !isTyping() && unsent().length === 0) return location.reload();
      if (!answer.ok) break;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const part of document.querySelectorAll("[data-live]")) {
        const other = page.getElementById(part.id);
        if (other) replace(part, other);
      }
      takeFields(page);
    }
  } catch {
    // The stream of events comes back when the network does, and says that there is something new.
  } finally {
    isRefreshing = false;
  }
}

// Puts a new part in the place of an old one. What somebody has opened, moved sideways or chosen with the keyboard stays so.
function replace(part, other) {
  const opened = [...part.querySelectorAll("details[open] > summary")].map((one) => one.textContent);
  for (const one of other.querySelectorAll("details > summary")) {
    if (opened.includes(one.textContent)) one.parentElement.open = true;
  }
  if (other.innerHTML === part.innerHTML) return;
  const places = [...part.querySelectorAll(".scroll")].map((one) => one.scrollLeft);
  const stops = () => [...part.querySelectorAll("a, button, input, select, summary, [tabindex]")];
  const stop = stops().indexOf(document.activeElement);
  part.innerHTML = other.innerHTML;
  for (const [number, one] of part.querySelectorAll(".scroll").entries()) one.scrollLeft = places[number] ?? 0;
  stops()[stop]?.focus({ preventScroll: true });
}

// Fields in which nobody has typed follow what is in the scorebook.
function takeFields(page) {
  const form = document.querySelector("[data-live-fields]");
  if (!form) return;
  const inputs = [...form.querySelectorAll("[data-score], #round")];
  const isInUse = (input) => isTyped(input) || input === document.activeElement;
  if (inputs.some(isInUse)) return;
  // The first scores of a match say whether they are for rounds, and players come and go.
  const names = (form) => [...form.querySelectorAll("[data-score], #round")].map((input) => input.name).join();
  const other = page.querySelector("[data-live-fields]");
  if (other && names(other) !== names(form)) {
    // Somebody may type teams beside it.
    if (![...document.querySelectorAll("input")].some(isInUse)) location.reload();
    return;
  }
  for (const input of inputs) {
    const other = page.querySelector(`[name="${CSS.escape(input.name)}"]`);
    if (other) input.defaultValue = input.value = other.defaultValue;
  }
}

let stream = null;
let nextListening;

// Only pages that somebody sees listen: a browser has few connections to one server.
function listen() {
  clearTimeout(nextListening);
  stream?.close();
  if (document.hidden) return;
  const events = new EventSource("/changes");
  stream = events;
  if (document.querySelector("[data-live]")) events.addEventListener("change", refresh);
  events.addEventListener("error", () => {
    // It comes back by itself, unless the answer was an error: this browser was shut out, and may be let in again.
    if (events.readyState !== EventSource.CLOSED) return;
    refresh();
    nextListening = setTimeout(listen, 5000);
  });
}

// A page for a browser that is let in. It listens also where nothing is live: what it shows goes when the browser is shut out.
if ("listens" in document.body.dataset) {
  listen();
  document.addEventListener("visibilitychange", listen);
}

// Scores: each entry has an id, waits in the browser until the scorebook has it, and is sent again until then. One that the scorebook
// does not take as it is waits until somebody says what becomes of it.

const key = "entries";
let isSending = false;

function waiting() {
  return JSON.parse(localStorage.getItem(key) ?? "[]");
}

function keep(entries) {
  localStorage.setItem(key, JSON.stringify(entries));
}

function drop(entry) {
  keep(waiting().filter((other) => other.entry !== entry.entry));
}

function unsent() {
  return waiting().filter((entry) => !entry.answer);
}

// crypto.randomUUID is missing where the page comes without TLS.
function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const text = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return text.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

function enter(path, fields) {
  keep([...waiting(), { path, entry: uuid(), fields }]);
  send();
}

async function send() {
  if (isSending) return;
  isSending = true;
  try {
    let last;
    for (let [next] = unsent(); next; [next] = unsent()) {
      const answer = await post(next.path, [["entry", next.entry], ...next.fields]);
      // The scorebook has not looked at it.
      if (answer.status === 401) return tellWaiting("until this browser is let in again");
      if (answer.status >= 500) return tellWaiting("for the scorebook");
      const text = await answer.json();
      if (!answer.ok) {
        keep(waiting().map((other) => (other.entry === next.entry ? { ...other, answer: text } : other)));
        continue;
      }
      drop(next);
      last = text;
    }
    if (last) say("Written down.", ...(last.run ? [button("Take back", () => takeBack(last.run))] : []));
    settle();
    refresh();
  } catch {
    tellWaiting("for the network");
  } finally {
    isSending = false;
  }
}

function tellWaiting(what) {
  const count = unsent().length;
  if (count === 0) return;
  say(`${count === 1 ? "One entry waits" : count + " entries wait"} ${what}.`, button("Try now", send));
}

function post(path, fields) {
  return fetch(path, {
    method: "POST",
    credentials: "same-origin",
    headers: { Accept: "application/json" },
    body: new URLSearchParams(fields),
    signal: AbortSignal.timeout(15000),
  });
}

// Asks about the first entry that the scorebook did not take.
function settle() {
  const entry = waiting().find((one) => one.answer);
  if (!entry) return;
  const done = (text) => {
    drop(entry);
    say(text ?? "");
    settle();
  };
  const take = (fields) => {
    drop(entry);
    enter(entry.path, fields);
  };
  const round = entry.fields.filter(([name]) => name === "round");
  // An answer of an earlier version says nothing of who is gone.
  const { conflicts, gone = [], message } = entry.answer;
  if (conflicts) {
    // Somebody was faster with another score, or has taken a player out.
    const text = [
      ...conflicts.map((one) => `${one.name} has ${one.present} already, you typed ${one.typed}`),
      ...gone.map((one) => `${one.name} does not play any more, you typed ${one.typed}`),
    ].join("; ");
    const again = [...round, ...conflicts.map((one) => [`score[${one.player}]`, one.typed]), ["replaces", "1"]];
    say(
      `${round.map(([, number]) => `Round ${number}: `).join("")}${text}.`,
      button(conflicts.length > 0 ? "Keep" : "Forget it", () => done()),
      ...(conflicts.length > 0 ? [button("Take mine", () => take(again))] : []),
    );
  } else if (putBack(entry)) {
    done(message);
  } else {
    const typed = entry.fields.filter(([name]) => name !== "round").map(([, value]) => value);
    say(`${message} You typed ${typed.join(", ")}.`, button("Forget it", () => done()));
  }
}

// Puts what was typed back into its form, if that is on this page and nobody has typed there since.
function putBack(entry) {
  const form = document.querySelector("form[data-entry]");
  if (!form || new URL(form.action).pathname !== entry.path) return false;
  const inputs = entry.fields.map(([name]) => form.elements[name]);
  if (inputs.some((input) => !input || isTyped(input))) return false;
  for (const [number, input] of inputs.entries()) {
    input.value = entry.fields[number][1];
    if (input.name !== "round") input.defaultValue = "";
  }
  // Nothing else has it, should the page be loaded again.
  sessionStorage.setItem(`draft ${entry.path}`, JSON.stringify(entry.fields));
  followRound(form);
  return true;
}

// Fields in which nobody has typed show nothing when somebody chooses another round than theirs.
function followRound(form) {
  const { round } = form.elements;
  if (!round || !isTyped(round)) return;
  for (const input of form.querySelectorAll("[data-score]")) {
    if (!isTyped(input)) input.value = input.defaultValue = "";
  }
}

async function takeBack(run) {
  const again = button("Take back", () => takeBack(run));
  try {
    const answer = await post("/back", [["run", run]]);
    const { message } = await answer.json();
    // A browser that is let in again, or a scorebook that is well again, can still take it back.
    say(message, ...(answer.status === 401 || answer.status >= 500 ? [again] : []));
    if (answer.status !== 401) refresh();
  } catch {
    say("This needs the network.", again);
  }
}

for (const form of document.querySelectorAll("form[data-entry]")) {
  const path = new URL(form.action).pathname;
  const inputs = [...form.querySelectorAll("[data-score]")];
  const { round } = form.elements;
  const typed = () => {
    const changed = inputs.filter((input) => isTyped(input) && input.value.trim() !== "");
    if (changed.length === 0) return null;
    return [...(round ? [round] : []), ...changed].map((input) => [input.name, input.value.trim()]);
  };
  // A phone may throw a page away while somebody looks elsewhere. What was typed comes back with it.
  const draft = `draft ${path}`;
  const fields = JSON.parse(sessionStorage.getItem(draft) ?? "null");
  if (fields) putBack({ path, fields });
  form.addEventListener("input", ({ target }) => {
    // Otherwise a score that is typed again as the field has shown it would not count as typed.
    if (inputs.includes(target)) target.defaultValue = "";
    followRound(form);
    sessionStorage.setItem(draft, JSON.stringify(typed()));
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const fields = typed();
    if (!fields) return say("Type a score first.");
    sessionStorage.removeItem(draft);
    // Nothing is typed any more, so that the fields follow the scorebook again.
    for (const input of inputs) input.value = input.defaultValue = "";
    if (round) round.defaultValue = round.value;
    document.activeElement?.blur();
    enter(path, fields);
  });
  keypad(form);
}

// Large keys, in place of the keyboard of a phone, which has no minus beside the digits. One of them brings that keyboard, for words.
function keypad(form) {
  if (!matchMedia("(pointer: coarse)").matches) return;
  const inputs = [...form.querySelectorAll("[data-score]")];
  let current = inputs[0];
  for (const input of inputs) {
    input.inputMode = "none";
    input.addEventListener("focus", () => (current = input));
    input.addEventListener("blur", () => (input.inputMode = "none"));
  }
  const change = (edit) => () => {
    current.value = edit(current.value);
    current.dispatchEvent(new Event("input", { bubbles: true }));
    current.focus();
  };
  const next = () => {
    current = inputs[(inputs.indexOf(current) + 1) % inputs.length];
    current.focus();
    current.select();
  };
  const letters = () => {
    current.blur();
    current.inputMode = "text";
    current.focus();
  };
  // What each key shows; how it is called where that says too little; and what it does, where it does not type what it shows.
  const keys = [
    ["1"], ["2"], ["3"], ["⌫", "Delete the last character", change((value) => value.slice(0, -1))],
    ["4"], ["5"], ["6"], ["−", "Minus", change((value) => (value.startsWith("-") ? value.slice(1) : "-" + value))],
    ["7"], ["8"], ["9"], ["Next", null, next],
    [".", "Decimal point"], ["0"], ["abc", "abc, all letters", letters],
  ];
  const pad = document.createElement("div");
  pad.className = "keypad";
  for (const [text, name, action = change((value) => value + text)] of keys) {
    const key = button(text, action);
    if (name) key.setAttribute("aria-label", name);
    if (action === next) key.className = "next";
    pad.append(key);
  }
  form.querySelector(".actions").before(pad);
}

window.addEventListener("online", send);
setInterval(() => unsent().length > 0 && send(), 5000);
settle();
if (unsent().length > 0) send();

// Files: one that is dropped on the form is sent at once, and one that is too large is not sent at all.
for (const form of document.querySelectorAll("form[data-drop]")) {
  const input = form.querySelector("input[type=file]");
  const over = (isOver) => form.classList.toggle("over", isOver);
  form.addEventListener("dragover", (event) => {
    event.preventDefault();
    over(true);
  });
  form.addEventListener("dragleave", () => over(false));
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    over(false);
    if (event.dataTransfer.files.length === 0) return;
    input.files = event.dataTransfer.files;
    form.requestSubmit();
  });
  form.addEventListener("submit", (event) => {
    const size = [...input.files].reduce((sum, file) => sum + file.size, 0);
    if (size <= Number(form.dataset.limit)) return say("The file is on its way.");
    event.preventDefault();
    say(`This file is too large: at most ${Math.floor(Number(form.dataset.limit) / 1e6)} MB.`);
  });
}

// A narrow screen shows a part of the navigation.
document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
