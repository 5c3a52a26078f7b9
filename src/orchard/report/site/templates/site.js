// Tables that sort and filter. Without this script every table is there, whole and in its own order.
"use strict";

const NUMBER = /^[*<≤↑↓\s]*([+−-]?[\d,]*\.?\d+(?:e[+-]?\d+)?)\s*([KM%×]?)/i;
const SCALES = { K: 1e3, M: 1e6 };

function numberIn(text) {
  const match = NUMBER.exec(text);
  if (!match) return null;
  const value = Number(match[1].replace(/,/g, "").replace("−", "-"));
  return Number.isNaN(value) ? null : value * (SCALES[match[2]] || 1);
}

const cellText = (row, index) => (row.cells[index] ? row.cells[index].textContent.trim() : "");

function compareBy(index, rows) {
  const told = rows.map((row) => cellText(row, index)).filter((text) => text && text !== "–");
  const numeric = told.length > 0 && told.every((text) => numberIn(text) !== null);
  return (one, other) => {
    const [a, b] = [cellText(one, index), cellText(other, index)];
    if (!numeric) return a.localeCompare(b, undefined, { numeric: true });
    const [x, y] = [numberIn(a), numberIn(b)];
    if (x === null || y === null) return (x === null) - (y === null);
    return x - y;
  };
}

// Ascending, descending, and back to the order in which the table was written.
const NEXT = { none: "ascending", ascending: "descending", descending: "none" };

function makeSortable(table) {
  const body = table.tBodies[0];
  const original = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const order = NEXT[head.getAttribute("aria-sort")];
      heads.forEach((other) => other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", order);
      const rows = [...original];
      if (order !== "none") {
        const compare = compareBy(index, rows);
        rows.sort(order === "ascending" ? compare : (a, b) => emptyLast(index, a, b) ?? compare(b, a));
      }
      body.append(...rows);
    });
  });
}

function emptyLast(index, one, other) {
  const [a, b] = [one, other].map((row) => ["", "–"].includes(cellText(row, index)));
  return a === b ? null : a - b;
}

const FEW_ROWS = 8;
let tableCount = 0;

function makeFilterable(table) {
  const rows = [...table.tBodies[0].rows];
  if (rows.length < FEW_ROWS && !table.dataset.chips) return;
  tableCount += 1;
  const tools = document.createElement("div");
  tools.className = "tools";
  const input = Object.assign(document.createElement("input"), { type: "search", id: `filter-${tableCount}` });
  const label = document.createElement("label");
  label.append("Filter", input);
  const count = document.createElement("output");
  const chosen = new Set();
  const key = table.dataset.chips;
  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      const fits = words.every((word) => text.includes(word)) && (!chosen.size || chosen.has(row.dataset[key]));
      row.hidden = !fits;
      shown += fits;
    }
    count.textContent = shown === rows.length ? `${rows.length} rows` : `${shown} of ${rows.length} rows`;
  };
  input.addEventListener("input", show);
  tools.append(label);
  if (key) tools.append(makeChips(rows, key, chosen, show));
  tools.append(count);
  (table.closest(".scroll") || table).before(tools);
  show();
}

function makeChips(rows, key, chosen, show) {
  const chips = document.createElement("div");
  chips.className = "chips";
  chips.setAttribute("role", "group");
  chips.setAttribute("aria-label", `Show only this ${key}`);
  const counts = new Map();
  rows.forEach((row) => counts.set(row.dataset[key], (counts.get(row.dataset[key]) || 0) + 1));
  counts.forEach((count, value) => {
    const chip = Object.assign(document.createElement("button"), { type: "button", textContent: `${value} (${count})` });
    chip.setAttribute("aria-pressed", "false");
    chip.addEventListener("click", () => {
      const pressed = !chosen.delete(value);
      if (pressed) chosen.add(value);
      chip.setAttribute("aria-pressed", String(pressed));
      show();
    });
    chips.append(chip);
  });
  return chips;
}

// A box that does not overflow is no stop for the keyboard; one that does says so.
function tellOverflow(box) {
  const overflows = box.scrollWidth > box.clientWidth + 1;
  const next = box.nextElementSibling;
  const hint = next && next.classList.contains("hint") ? next : null;
  if (overflows) {
    box.tabIndex = 0;
    if (!hint) {
      const text = Object.assign(document.createElement("p"), { className: "hint", textContent: "Scroll sideways to see all of it →" });
      box.after(text);
    }
  } else {
    box.removeAttribute("tabindex");
    if (hint) hint.remove();
  }
}

// What an address points to inside a closed <details> would not be seen.
function openTarget() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let box = target && target.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
}

document.querySelectorAll("table.sortable").forEach((table) => {
  if (!table.tHead || !table.tBodies.length) return;
  makeSortable(table);
  makeFilterable(table);
});
const boxes = document.querySelectorAll(".scroll");
const observer = new ResizeObserver((entries) => entries.forEach((entry) => tellOverflow(entry.target)));
boxes.forEach((box) => observer.observe(box));
window.addEventListener("hashchange", openTarget);
openTarget();
// Printed pages show what is folded away on screen.
window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
