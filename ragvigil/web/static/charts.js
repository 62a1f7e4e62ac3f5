"use strict";

// Single values of a chart under the pointer, the same time in every chart of the page; dragging chooses a time. The
// chart is the server's drawing: uPlot lies over it, draws nothing of its own, and knows where the pointer is.

const SIDES = 84; // what `.series .plot` leaves free at its two sides, px
const TOP = 20; // above the highest value, px
const clock = (seconds) => {
  const local = document.documentElement.dataset.clock === "local";
  const time = new Date(seconds * 1000 - (local ? new Date(seconds * 1000).getTimezoneOffset() * 60000 : 0));
  return time.toISOString().slice(5, 16).replace("T", " ");
};

function words(data, index) {
  const value = data.value[index];
  if (value === null || value === undefined) return "no answer";
  const interval = data.low[index] === null ? "" : `, between ${data.low[index].toFixed(2)} and ${data.high[index].toFixed(2)}`;
  return `${clock(data.time[index])}  ${value.toFixed(2)}${interval}, from ${data.n[index]} answers`;
}

function choose(chart) {
  if (chart.select.width < 8) return;
  const address = new URL(location.href);
  const iso = (place) => new Date(chart.posToVal(place, "x") * 1000).toISOString().slice(0, 19) + "Z";
  address.searchParams.set("since", iso(chart.select.left));
  address.searchParams.set("until", iso(chart.select.left + chart.select.width));
  location.assign(address);
}

function enhance(box) {
  if (box.querySelector(".uplot")) return;
  const data = JSON.parse(box.dataset.series);
  const height = box.querySelector(".stretched").height.baseVal.value;
  const says = Object.assign(document.createElement("p"), { className: "hover" });
  says.setAttribute("aria-hidden", "true");
  const chart = new uPlot({
    width: box.clientWidth - SIDES, height, padding: [0, 0, 0, 0], legend: { show: false },
    cursor: { y: false, sync: { key: "charts", scales: ["x", null] }, drag: { x: true, y: false, setScale: false }, points: { size: 9, width: 2, fill: "transparent" } },
    scales: { x: { time: true, range: () => [data.from, data.to] }, y: { range: () => data.scale } },
    axes: [{ show: false }, { show: false }],
    series: [{}, { stroke: () => getComputedStyle(box).color, width: 0, points: { show: false } }],
    hooks: {
      setCursor: [(one) => { const index = one.cursor.idx; says.textContent = index === null || one.cursor.left < 0 ? "" : words(data, index); }],
      setSelect: [choose],
    },
  }, [data.time, data.value], box);
  chart.root.style.top = `${TOP}px`;
  says.style.top = `${TOP + height - 22}px`;
  box.append(says);
  new ResizeObserver(() => chart.setSize({ width: box.clientWidth - SIDES, height })).observe(box);
}

const enhance_all = (root) => root.querySelectorAll("[data-series]").forEach(enhance);
document.addEventListener("DOMContentLoaded", () => { if (window.uPlot) enhance_all(document); });
document.addEventListener("htmx:load", (event) => { if (window.uPlot) enhance_all(event.detail.elt); });
