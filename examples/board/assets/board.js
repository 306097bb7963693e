// Shows new messages as they are posted, and posts without leaving the page. Without it the form works all the same.
"use strict";

const byId = (id) => document.getElementById(id);
const form = byId("form");
const list = byId("messages");
const state = byId("state");

const shownMax = 200;
const againAfterMs = 2000;

let newest = Number(list.dataset.newest);

const localTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
function showTime(element) {
  element.textContent = localTime.format(new Date(element.dateTime));
}

function markOf(name) {
  return new TextEncoder().encode(name).reduce((sum, byte) => sum + byte, 0) % 6;
}

// The order is that of the ids, and one that is shown already is not shown again.
function show(message) {
  newest = Math.max(newest, message.id);
  const id = `m${message.id}`;
  if (byId(id)) return;
  const item = byId("message").content.firstElementChild.cloneNode(true);
  item.id = id;
  item.className = `fresh mark-${markOf(message.name)}`;
  item.querySelector("strong").textContent = message.name;
  item.querySelector("p").textContent = message.text;
  const time = item.querySelector("time");
  time.dateTime = message.posted_at;
  showTime(time);
  const older = [...list.children].find((other) => Number(other.id.slice(1)) < message.id);
  list.insertBefore(item, older ?? null);
  byId("nothing").hidden = true;
  while (list.children.length > shownMax) list.lastElementChild.remove();
}

function tell(text, live) {
  state.hidden = false;
  state.textContent = text;
  state.classList.toggle("live", live);
}

// The browser connects again by itself, and says which message it had last. Only an answer that is no stream ends that.
function listen() {
  const stream = new EventSource(`/events?after=${newest}`);
  stream.onopen = () => tell("Live", true);
  stream.onmessage = (event) => show(JSON.parse(event.data));
  stream.onerror = () => {
    tell("Reconnecting…", false);
    if (stream.readyState === EventSource.CLOSED) setTimeout(listen, againAfterMs);
  };
}

function showFaults(faults) {
  for (const field of ["name", "text"]) {
    byId(`${field}-fault`).textContent = faults[field] ?? "";
    byId(field).setAttribute("aria-invalid", String(field in faults));
  }
  const first = ["name", "text"].find((field) => field in faults);
  if (first) byId(first).focus();
}

async function post() {
  const answer = await fetch("/api/messages", {
    method: "POST",
    headers: { "Content-Type": "application/json", "Accept": "application/json" },
    body: JSON.stringify({ name: form.elements.name.value, text: form.elements.text.value }),
  });
  const content = await answer.json().catch(() => ({ detail: `The board answered with status ${answer.status}.` }));
  if (answer.ok) {
    show(content);
    showFaults({});
    form.elements.text.value = "";
    form.elements.text.focus();
  } else {
    showFaults(content.faults ?? {});
    if (!content.faults) byId("problem").textContent = content.detail;
  }
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = form.querySelector("button");
  button.disabled = true;
  byId("problem").textContent = "";
  try {
    await post();
  } catch {
    byId("problem").textContent = "The board cannot be reached. Your message is still here; try again.";
  }
  button.disabled = false;
});

for (const time of list.querySelectorAll("time")) showTime(time);
listen();
