"use strict";

// Keys, the reader's own clock, and pages that renew themselves. Without this file, every page still reads and acts.

const OWN_CLOCK = document.documentElement.dataset.clock === "local";
const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const two = (number) => String(number).padStart(2, "0");
const midnight = (time) => new Date(time.getFullYear(), time.getMonth(), time.getDate());

// The same words as `ragvigil/model/figures.py` has, on the reader's clock.
function wording(time, form) {
  const now = new Date();
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}`;
  if (form === "clock") return `${clock}:${two(time.getSeconds())} local`;
  const days = Math.round((midnight(now) - midnight(time)) / 86400000);
  const is_near = days >= 0 && days < 7;
  const has_year = time.getFullYear() !== now.getFullYear();
  const date = is_near ? DAYS[time.getDay()] : `${time.getDate()} ${MONTHS[time.getMonth()]}${has_year ? ` ${time.getFullYear()}` : ""}`;
  if (form === "day") return days === 0 ? "today" : date;
  if (days === 0) return clock;
  return has_year && !is_near ? date : `${date} ${clock}`;
}

function on_own_clock(root) {
  if (!OWN_CLOCK) return;
  for (const element of root.querySelectorAll("time[data-form]")) {
    if (element.dataset.form !== "ago") element.textContent = wording(new Date(element.dateTime), element.dataset.form);
  }
  for (const mark of root.querySelectorAll("text[data-time]")) {
    const time = new Date(mark.dataset.time);
    if (mark.textContent.includes(":")) mark.textContent = `${two(time.getHours())}:${two(time.getMinutes())}`;
  }
}

// Renews the page, unless somebody types in it or has typed, has opened a part of it, or marks text.
function is_being_used(page) {
  const types = page.contains(document.activeElement) && document.activeElement.matches("input, select, textarea");
  const is_written = [...page.querySelectorAll("input, textarea")].some((field) => field.value !== field.defaultValue || field.checked !== field.defaultChecked);
  return types || is_written || document.hidden || !document.getSelection().isCollapsed || page.querySelector("details[open]") !== null
    || document.querySelector("dialog[open]") !== null;
}

function renew() {
  const page = document.getElementById("page");
  if (!page) return;
  const is_used = is_being_used(page);
  const again = document.querySelector("[data-again]");
  if (again) again.textContent = is_used ? ", not again while you are in it" : `, again in ${page.dataset.refresh} s`;
  if (!is_used) htmx.trigger(page, "renew");
}

// What stands at the top of the window stays there when the page is renewed; focus and chosen row stay, too.
const anchors = () => [...document.querySelectorAll("main > section, main [data-row]")];
const stops = () => [...document.querySelectorAll("main :is(a[href], button, summary, pre)")];
let kept = null;

// A renewal that is led elsewhere, as to the sign-in, goes there as a whole page.
function leave(event) {
  const url = event.detail.xhr.responseURL;
  if (!url || new URL(url).pathname === location.pathname) return;
  event.detail.shouldSwap = false;
  location.reload();
}

function keep_place() {
  const index = anchors().findIndex((element) => element.getBoundingClientRect().bottom > 0);
  const element = anchors()[index];
  const focused = document.activeElement;
  const chosen = document.querySelector("[data-row][aria-current]");
  kept = {
    id: element ? element.id : "", index, top: element ? element.getBoundingClientRect().top : 0,
    stop: stops().indexOf(focused), words: focused.textContent, row: rows().indexOf(chosen),
  };
}

function return_to_place() {
  if (!kept) return;
  const element = (kept.id && document.getElementById(kept.id)) || anchors()[kept.index];
  if (element && scrollY > 0) scrollBy({ top: element.getBoundingClientRect().top - kept.top, behavior: "instant" });
  const stop = stops()[kept.stop];
  if (stop && stop.textContent === kept.words) stop.focus({ preventScroll: true });
  const row = rows()[kept.row];
  if (row) row.setAttribute("aria-current", "true");
  kept = null;
}

// Rows that j and k go through, and the acts that other keys carry out.
const rows = () => [...document.querySelectorAll("[data-row]")];

function go(step) {
  const all = rows();
  if (!all.length) return;
  const current = all.findIndex((row) => row.hasAttribute("aria-current"));
  const next = all[Math.min(Math.max(current + step, 0), all.length - 1)];
  for (const row of all) row.removeAttribute("aria-current");
  next.setAttribute("aria-current", "true");
  const link = next.querySelector("a[href]");
  if (link) link.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

// The element of a key: in the row that is chosen, or else in the page.
function of_key(key) {
  const row = document.querySelector("[data-row][aria-current]");
  const name = `[data-key="${CSS.escape(key)}"]`;
  const found = (row && row.querySelector(name)) || document.querySelector(`:not([data-row] *)${name}`);
  return found || (key === "o" && row ? row.querySelector("a[href]") : null);
}

// The words of a link or button, without its count or key.
const words_of = (element) => element.firstChild.textContent.trim().toLowerCase();

function show_keys() {
  const dialog = document.createElement("dialog");
  dialog.className = "keys-dialog";
  dialog.setAttribute("aria-labelledby", "keys-title");
  const list = document.createElement("dl");
  const add = (keys, words) => {
    const term = document.createElement("dt");
    for (const key of keys) term.append(Object.assign(document.createElement("kbd"), { textContent: key }));
    list.append(term, Object.assign(document.createElement("dd"), { textContent: words }));
  };
  add(["/"], "search");
  for (const link of document.querySelectorAll(".pages [data-go]")) add(["g", link.dataset.go], words_of(link));
  if (rows().length) { add(["j", "k"], "down, up"); add(["o"], "open"); }
  const acts = new Map([...document.querySelectorAll("main [data-key]")].reverse().map((element) => [element.dataset.key, element]));
  for (const [key, element] of [...acts].reverse()) if (key !== "o") add([key], words_of(element));
  add(["[", "]"], "shorter, longer time");
  const title = Object.assign(document.createElement("h2"), { id: "keys-title", textContent: "Keys" });
  const close = Object.assign(document.createElement("button"), { className: "button", textContent: "Close", autofocus: true });
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  dialog.append(title, list, close);
  document.body.append(dialog);
  dialog.showModal();
}

function search() {
  const fields = [...document.querySelectorAll(".search input")];
  const seen = fields.find((field) => field.offsetParent);
  if (seen) seen.focus();
}

function other_time(step) {
  const spans = [...document.querySelectorAll("[data-span]")];
  const next = spans[spans.findIndex((link) => link.hasAttribute("aria-current")) + step];
  if (next) next.click();
}

let awaits_page = false;

function on_key(event) {
  const target = event.target;
  const types = target.isContentEditable || /^(input|select|textarea)$/i.test(target.tagName);
  if (types || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const key = event.key;
  const page = awaits_page && document.querySelector(`.pages [data-go="${CSS.escape(key)}"]`);
  awaits_page = key === "g" && !awaits_page;
  const element = of_key(key);
  if (page) page.click();
  else if (key === "/") search();
  else if (key === "?") show_keys();
  else if (element) { element.click(); if (element.tagName === "SUMMARY") focus_first(element.parentElement); }
  else if (key === "j" || key === "k") go(key === "j" ? 1 : -1);
  else if (key === "[" || key === "]") other_time(key === "]" ? 1 : -1);
  else return;
  event.preventDefault();
}

function focus_first(details) {
  const field = details.querySelector("input:not([type=hidden]), select, textarea, button");
  if (details.open && field) field.focus();
}

// A menu closes when the reader goes on, or presses Escape.
function close_menus(event) {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (event.type === "keydown" ? event.key === "Escape" : !menu.contains(event.target)) {
      if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
      menu.open = false;
    }
  }
}

// Copies what stands beside a button; the button is hidden where there is no script.
function offer_copies(root) {
  for (const button of root.querySelectorAll("button[data-copy]")) {
    button.hidden = !navigator.clipboard;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      button.lastChild.textContent = " Copied";
    });
  }
}

// What was done is said once: neither a renewal nor a bookmark says it again.
function forget_done() {
  const url = new URL(location);
  if (!url.searchParams.has("done")) return;
  url.searchParams.delete("done");
  history.replaceState(null, "", url);
}

function start(root) {
  on_own_clock(root);
  offer_copies(root);
}

document.addEventListener("keydown", on_key);
document.addEventListener("keydown", close_menus);
document.addEventListener("pointerdown", close_menus);
document.addEventListener("htmx:load", (event) => start(event.detail.elt));
document.addEventListener("htmx:beforeSwap", leave);
document.addEventListener("htmx:beforeSwap", keep_place);
document.addEventListener("htmx:afterSettle", return_to_place);
document.addEventListener("DOMContentLoaded", () => {
  start(document);
  forget_done();
  const page = document.getElementById("page");
  if (page && page.dataset.refresh && window.htmx) setInterval(renew, 1000 * page.dataset.refresh);
});
