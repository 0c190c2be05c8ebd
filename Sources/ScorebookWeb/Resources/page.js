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

async function refresh() {
  isStale = true;
  if (isRefreshing) return;
  isRefreshing = true;
  try {
    while (isStale) {
      isStale = false;
      const answer = await fetch(location.href, { credentials: "same-origin" });
      if (!answer.ok) break;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const part of document.querySelectorAll("[data-live]")) {
        const other = page.getElementById(part.id);
        if (other && other.innerHTML !== part.innerHTML) part.innerHTML = other.innerHTML;
      }
      takeFields(page);
    }
  } catch {
    // The stream of events comes back when the network does, and says that there is something new.
  } finally {
    isRefreshing = false;
  }
}

// Fields in which nobody has typed follow what is in the scorebook.
function takeFields(page) {
  const form = document.querySelector("[data-live-fields]");
  if (!form) return;
  const inputs = [...form.querySelectorAll("[data-score], #round")];
  if (inputs.some((input) => input.value !== input.defaultValue || input === document.activeElement)) return;
  for (const input of inputs) {
    const other = page.querySelector(`[name="${CSS.escape(input.name)}"]`);
    if (other) input.defaultValue = input.value = other.defaultValue;
  }
}

if (document.querySelector("[data-live]")) {
  new EventSource("/changes").addEventListener("change", refresh);
}

// On a small screen the navigation is wider than the page.
document.querySelector("nav [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });

// Scores: each entry has an id, waits in the browser until the scorebook has it, and is sent again until then.

const key = "entries";
let isSending = false;

function waiting() {
  return JSON.parse(localStorage.getItem(key) ?? "[]");
}

function keep(entries) {
  localStorage.setItem(key, JSON.stringify(entries));
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
  const entry = uuid();
  keep([...waiting(), { path, entry, fields }]);
  send();
}

async function send() {
  if (isSending) return;
  isSending = true;
  try {
    for (let first = waiting()[0]; first; first = waiting()[0]) {
      const answer = await post(first.path, [["entry", first.entry], ...first.fields]);
      keep(waiting().filter((other) => other.entry !== first.entry));
      const text = await answer.json();
      if (answer.status === 409) settle(first, text.conflicts);
      else if (!answer.ok) say(text.message);
      else say("Written down.", button("Take back", () => takeBack(first)));
    }
    refresh();
  } catch {
    const count = waiting().length;
    say(`${count === 1 ? "One entry waits" : count + " entries wait"} for the network.`, button("Try now", send));
  } finally {
    isSending = false;
  }
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

// Somebody was faster with another score.
function settle(entry, conflicts) {
  const text = conflicts.map((one) => `${one.name} has ${one.present} already, you typed ${one.typed}`).join("; ");
  say(
    `${text}.`,
    button("Keep", () => say("")),
    button("Take mine", () =>
      enter(entry.path, [
        ...entry.fields.filter(([name]) => name === "round"),
        ...conflicts.map((one) => [`score[${one.player}]`, one.typed]),
        ["replaces", "1"],
      ]),
    ),
  );
}

async function takeBack(entry) {
  try {
    await post(`${entry.path}/back`, [["entry", entry.entry]]);
    say("Taken back.");
    refresh();
  } catch {
    say("This needs the network.", button("Take back", () => takeBack(entry)));
  }
}

for (const form of document.querySelectorAll("form[data-entry]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const inputs = [...form.querySelectorAll("[data-score]")];
    const typed = inputs.filter((input) => input.value !== input.defaultValue && input.value.trim() !== "");
    if (typed.length === 0) return say("Type a score first.");
    const path = new URL(form.action).pathname;
    enter(path, [["round", form.elements.round.value], ...typed.map((input) => [input.name, input.value.trim()])]);
    for (const input of inputs) input.value = input.defaultValue = input.value;
    document.activeElement?.blur();
  });
  keypad(form);
}

// Large keys, in place of the keyboard of a phone, which has no minus beside the digits.
function keypad(form) {
  if (!matchMedia("(pointer: coarse)").matches) return;
  const inputs = [...form.querySelectorAll("[data-score]")];
  let current = inputs[0];
  for (const input of inputs) {
    input.inputMode = "none";
    input.addEventListener("focus", () => (current = input));
  }
  const keys = document.createElement("div");
  keys.className = "keypad";
  for (const text of ["1", "2", "3", "4", "5", "6", "7", "8", "9", "−", "0", "⌫"]) {
    const one = button(text, () => {
      const value = current.value;
      if (text === "⌫") current.value = value.slice(0, -1);
      else if (text === "−") current.value = value.startsWith("-") ? value.slice(1) : "-" + value;
      else current.value = value + text;
      current.focus();
    });
    if (text === "⌫") one.setAttribute("aria-label", "Delete the last digit");
    if (text === "−") one.setAttribute("aria-label", "Minus");
    keys.append(one);
  }
  const next = button("Next", () => {
    current = inputs[(inputs.indexOf(current) + 1) % inputs.length];
    current.focus();
    current.select();
  });
  keys.append(next);
  form.querySelector(".actions").before(keys);
}

window.addEventListener("online", send);
setInterval(() => waiting().length > 0 && send(), 5000);
if (waiting().length > 0) send();

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
